# Two waits of 565 ms that expose 10 ms and 1 ms; the launches before a full queue are no syncs.
$ ln -s $DATA/wan/wan_before_compile.json.gz wan.json.gz && strata syncs wan.json.gz
| the CPU waits 11 times at 6 places (2 steps): blocked 1.13 s, which leaves the GPU idle for 11.7 ms
|   site  kind             blocked  exposed  calls  per step  queue depth  drains  in
|      1  readback          565 ms  10.3 ms      1      0.50        1,003  yes     index_for_timestep
|         diffusers/.../scheduling_unipc_multistep.py:1100  Tensor.nonzero -> cudaStreamSynchronize
|      2  constant upload   565 ms  1.24 ms      3      1.50        1,003  yes     multis..._bh_update
|         diffusers/.../scheduling_unipc_multistep.py:962  torch.tensor -> cudaStreamSynchronize
|      3  constant upload  0.01 ms  0.06 ms      1         -            -  -       set_timesteps
|         diffusers/schedulers/scheduling_unipc_multistep.py:318  Tensor.to -> cudaStreamSynchronize
|      4  constant upload  0.02 ms  0.06 ms      4      2.00            -  -       multis..._bh_update
|         diffusers/.../scheduling_unipc_multistep.py:833  torch.tensor -> cudaStreamSynchronize
|      5  readback         0.01 ms  0.04 ms      1      0.50            -  -       index_for_timestep
|         diffusers/.../scheduling_unipc_multistep.py:1100  Tensor.item -> cudaStreamSynchronize
|      6  explicit         0.02 ms        -      1         -            -  -       profiled
|         pipes.py:62  torch.cuda.synchronize -> cudaDeviceSynchronize
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
|   drains: the call waits for all queued work
|   line numbers are where a function starts: torch records no others
|   not a sync: 671 launches waited 694 ms on a full queue: the CPU is far ahead, which is healthy
|   not counted: 1 synchronize call of the profiler itself
|
| next: strata syncs wan.json.gz --site 1         the evidence, step by step
|       strata whatif wan.json.gz --drop-sync 1   what removing it would gain

# How we know, moment by moment (what a replay predicts is tested elsewhere).
$ strata syncs wan.json.gz --site 1 | grep -v 'as traced'
| site 1   cudaStreamSynchronize under aten::nonzero   1 call   blocked 565 ms, exposed 10.3 ms
|   t=    522.631 ms  scheduler_step begins on thread 1213; 1,001 launches queued on the GPU
|   t=    522.765 ms  Tensor.nonzero: Memcpy DtoH (Device -> Pinned), 4 B, then cudaStreamSynchronize
|   t=    522.765 ms  the CPU stops; the GPU drains 1,003 launches in 565 ms  <- blocked, GPU busy
|   t=   1087.349 ms  the queue is empty (with an empty queue the call takes 6.47 us)
|   t=   1087.389 ms  the call returns
|   t=   1087.562 ms  this thread's next GPU work starts: DeviceCompactInitKernel<ScanTileState>
|   t=   1098.720 ms  the CPU has caught up: 10.3 ms of GPU idle time in 36 gaps  <- exposed
|                     meanwhile: _set_context 5.74 ms, is_compiled_module 734 us, forward 342 us
|   without this sync    gains 452 us of 2.15 s in the trace, 369 us (0.0 %) without the profiler
|   without all syncs    gains 19.5 ms of 2.15 s in the trace, 4.79 ms (0.2 %) without the profiler
|   stack, innermost first:
|     diffusers/schedulers/scheduling_unipc_multistep.py:1100 index_for_timestep
|     diffusers/schedulers/scheduling_unipc_multistep.py:1137 _init_step_index
|     diffusers/schedulers/scheduling_unipc_multistep.py:1153 step
|     pipes.py:53 w
|     diffusers/pipelines/wan/pipeline_wan.py:381 __call__
|     torch/utils/_contextlib.py:120 decorate_context
|     pipes.py:42 call
|     pipes.py:62 profiled
|     pipes.py:69 <module>
|
| next: strata whatif wan.json.gz --drop-sync 1   the same with other assumptions
|       strata gaps wan.json.gz                   what else the GPU waits for

# Without stacks, labels name the place.
$ ln -s $DATA/whatif/pingpong_v0.json.gz pp.json.gz && strata syncs pp.json.gz
| the CPU waits 17 times at 2 places (16 steps): blocked 498 us, which leaves the GPU idle for 761 us
|   site  kind      blocked  exposed  calls  per step  queue depth  drains  in
|      1  readback   463 us   761 us     16      1.00            4  yes     sampler_step
|         pipeline_call > decode_step > sampler_step  aten::item -> cudaStreamSynchronize
|      2  explicit  34.7 us        -      1         -            -  -       pipeline_call
|         pipeline_call  cudaDeviceSynchronize
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
|   drains: the call waits for all queued work
|   the trace has no Python stacks; record with with_stack=True to get file and line
|   not counted: 1 synchronize call of the profiler itself
|
| next: strata syncs pp.json.gz --site 1         the evidence, step by step
|       strata whatif pp.json.gz --drop-sync 1   what removing it would gain

# The profiler's own last synchronize is nobody's fault.
$ ln -s $DATA/matmul_add/64_bf16_warm_eager.json.gz small.json.gz && strata syncs small.json.gz
| shown: what can be judged, 278 us of the 499 us recorded
| left out: start-up 221 us (--whole includes it)
|
| the CPU never waits for the GPU in this trace
|   not counted: 1 synchronize call of the profiler itself
|
| next: strata gaps small.json.gz   when the GPU was idle, and why

# Keys for programs.
$ strata syncs pp.json.gz --site 2 --json | grep -v predicted_gain | grep -v as_traced_gain
| {
|   "steps": 16,
|   "has_stacks": false,
|   "totals": {
|     "count": 17,
|     "blocked_us": 498.059,
|     "exposed_us": 760.792
|   },
|   "profiler": {
|     "count": 1,
|     "blocked_us": 4.663
|   },
|   "backpressure": {
|     "count": 0,
|     "blocked_us": 0.000
|   },
|   "sites": [
|     {
|       "id": 2,
|       "call": "cudaDeviceSynchronize",
|       "op": null,
|       "inner_op": null,
|       "kind": "explicit",
|       "source": null,
|       "source_by": "annotation",
|       "line_is_function_start": false,
|       "annotation": "pipeline_call",
|       "stack": [],
|       "count": 1,
|       "per_step": 0.000,
|       "blocked_us": 34.739,
|       "exposed_us": 0.000,
|       "longest_us": 34.739,
|       "floor_us": 34.739,
|       "drains": false,
|       "drain_count": 0,
|       "queue_depth": 0,
|       "behind_us": 0.000,
|       "bytes": null,
|       "first_us": 40911.949,
|       "last_us": 40911.949
|     }
|   ],
|   "story": {
|     "evidence": [
|       {
|         "t_us": 0.000,
|         "what": "label begins"
|       },
|       {
|         "t_us": 40911.949,
|         "what": "the CPU begins to wait"
|       },
|       {
|         "t_us": 40946.688,
|         "what": "the call returns"
|       }
|     ],
|     "meanwhile": [],
|     "if_removed": {
|     },
|     "if_all_removed": {
|     }
|   },
|   "trace_quality": {
|     "verdict": "good",
|     "idle_trusted": true,
|     "times_trusted": true,
|     "links_trusted": true,
|     "recording_cost_pct": 8.3,
|     "python_sample_us": null,
|     "recording": {
|       "ops": 1777,
|       "calls": 514,
|       "python_frames": 0,
|       "memory_events": 0,
|       "cost_us": 3096.785,
|       "working_us": 40495.006
|     },
|     "recorded": [],
|     "coverage": {
|       "launches_expected": 496,
|       "launches_recorded": 496,
|       "pct": 100.000,
|       "devices": [
|         {
|           "device": 0,
|           "pct": 100.000
|         }
|       ]
|     },
|     "problems": [
|       {
|         "id": "profiler_buffers",
|         "level": "good",
|         "takes": [],
|         "handled": false,
|         "count": 0,
|         "of": null,
|         "worst_us": 504.868,
|         "what": "the profiler's own buffers took 505 us (1.2 % of the trace)",
|         "means": "it leaves one gap in the device's work at the first launch, which the program did not cause",
|         "instead": "",
|         "examples": []
|       }
|     ]
|   }
| }

$ strata syncs pp.json.gz --site 3
! strata: there is no site 3; the trace has 2
? 2

$ strata syncs pp.json.gz --site x
! strata: --site takes a whole number from 1 to 4294967295, not 'x'
? 2

# Whatever a name in a trace holds, it commands no terminal.
$ printf '[%s,%s,%s,%s]' '{"ph":"X","cat":"cpu_op","name":"a\u001b]0;b\u0007c\u202ed","pid":1,"tid":1,"ts":1,"dur":90}' '{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":5,"dur":80,"args":{"correlation":2}}' '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":2,"args":{"correlation":1}}' '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":6,"dur":70,"args":{"correlation":1,"stream":7,"device":0}}' > escape.json
$ strata syncs escape.json --site 1 --color always | head -1 | cat -v
| site 1   cudaStreamSynchronize under a?]0;b?c?d   1 call   blocked 80.0 us, exposed 0
