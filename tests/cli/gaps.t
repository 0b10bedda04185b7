# The walk over all modules in _set_context, seen through the gaps it leaves.
$ ln -s $DATA/flux2/flux2_before_compile.json.gz flux2.json.gz && strata gaps flux2.json.gz --limit 6
| GPU 0 is idle for 26.8 ms of 511 ms (5.2 %)
|   largest cause: _set_context (Python), 4.83 ms
|   2,809 gaps, 179 of 5.00 us or more; not counted: 17.0 ms before and 7.25 ms after all its work
|   GPU idle   share   gaps  cause           what                         where
|    4829 us  18.0 %      1  Python          _set_cont...(named_modules)  diffusers/hooks/hooks.py:268
|    4423 us  16.5 %      1  Python          get_param...(named_modules)  modeling_utils.py:155
|    3884 us  14.5 %  2,630  short gaps      back-to-back
|    1574 us   5.9 %    149  launch latency  cudaLaunchKernel
|     758 us   2.8 %     11  Python          __call__                     pipeline_flux2_klein.py:607
|     757 us   2.8 %    106  Python          get_1d_rotary_pos_embed      embeddings.py:1119
|   267 more rows hold the other 39.4 % (--limit 0 shows all)
|
|   longest at     idle  step  what the CPU did meanwhile
|    20.417 ms  10.4 ms     -  _set_context 4.83 ms, get_p..._dtype 4.42 ms, is_compiled_module 675 us
|    37.497 ms  1.02 ms     0  forward 499 us, forward 276 us, TorchDynamo Cache Lookup 158 us
|    19.719 ms  0.70 ms     -  progress_bar 403 us, __call__ 138 us
|    18.860 ms  0.62 ms     -  retrieve_timesteps 233 us, ... set_timesteps 87.2 us; after sync site 4
|    16.987 ms  0.58 ms     -  _prepare_text_ids 88.0 us, encode_prompt 42.1 us, aten::cat 36.8 us
|    18.422 ms  0.43 ms     -  aten::cat 93.4 us, _prepare_latent_ids 53.3 us, aten::copy_ 32.1 us
|
| next: strata syncs flux2.json.gz                            which CPU waits leave the GPU idle
|       strata whatif flux2.json.gz --drop-cpu _set_context   what removing it would gain

# Without stacks, labels and operators have to do.
$ ln -s $DATA/whatif/pingpong_v0.json.gz pp.json.gz && strata gaps pp.json.gz --limit 4
| GPU 0 is idle for 18.9 ms of 38.7 ms (48.7 %)
|   largest cause: cache_context (label), 11.0 ms
|   495 gaps, 106 of 5.00 us or more; not counted: 2.06 ms before and 186 us after all its work
|   GPU idle   share  gaps  cause           what              where
|    11.0 ms  58.1 %    15  label           cache_context
|    1.90 ms  10.1 %    33  operator        aten::addmm
|    0.72 ms   3.8 %    15  label           decode_step
|    0.68 ms   3.6 %    38  launch latency  cuLaunchKernelEx
|   21 more rows hold the other 24.4 % (--limit 0 shows all)
|
|   longest at     idle  step  what the CPU did meanwhile
|    35.428 ms  1185 us    14  cache_context 861 us, aten::addmm 106 us, decode_step 64.3 us
|    27.541 ms  1091 us    11  cache_context 788 us, aten::addmm 100 us, decode_step 58.0 us
|    15.514 ms  1079 us     6  cache_context 788 us, aten::addmm 101 us, decode_step 55.3 us
|    22.155 ms  1060 us     9  cache_context 752 us, aten::addmm 100 us, decode_step 57.8 us
|
| next: strata syncs pp.json.gz                             which CPU waits leave the GPU idle
|       strata whatif pp.json.gz --drop-cpu cache_context   what removing it would gain

# Small shapes: unavoidable.
$ ln -s $DATA/matmul_add/64_bf16_warm_eager.json.gz small.json.gz && strata gaps small.json.gz
| shown: what can be judged, 278 us of the 499 us recorded
| left out: start-up 221 us (--whole includes it)
|
| GPU 0 is idle for 135 us of 141 us (96.1 %)
|   largest cause: aten::mm (operator), 22.6 us
|   3 gaps, 3 of 5.00 us or more; not counted: 47.4 us before and 89.4 us after all its work
|   small kernels: one takes 1.38 us on average, and a launch comes every 47.2 us.
|   Fewer, larger kernels (torch.compile) or CUDA graphs help.
|   GPU idle   share  gaps  cause           what                   where
|    22.6 us  16.7 %     2  operator        aten::mm
|    21.0 us  15.5 %     2  launch latency  cudaLaunchKernel
|    20.7 us  15.2 %     3  label           matmul_add
|    16.7 us  12.3 %     1  label           ProfilerStep#*
|    16.3 us  12.0 %     3  operator        aten::add
|    14.4 us  10.6 %     1  not recorded    CPU work not recorded
|    12.4 us   9.2 %     1  runtime call    cuLaunchKernelEx
|    9.09 us   6.7 %     1  launch latency  cuLaunchKernelEx
|    2.34 us   1.7 %     2  operator        aten::matmul
|
|   longest at     idle  step  what the CPU did meanwhile
|     0.093 ms  75.8 us     1  aten::mm 19.5 us, ProfilerStep#* 16.7 us, matmul_add 15.0 us
|     0.049 ms  43.3 us     0  cudaLaunchKernel 12.9 us, cuLaunchKernelEx 12.4 us, aten::add 9.65 us
|     0.171 ms  16.4 us     1  cudaLaunchKernel 8.10 us, aten::add 6.62 us, matmul_add 1.70 us
|
| next: strata syncs small.json.gz                        which CPU waits leave the GPU idle
|       strata whatif small.json.gz --drop-cpu aten::mm   what removing it would gain

# A device that hardly ever waits.
$ ln -s $DATA/matmul_add/4096_bf16_warm_eager.json.gz large.json.gz && strata gaps large.json.gz
| GPU 0 is idle for 21.3 us of 604 us (3.5 %)
|   largest cause: cuLaunchKernelEx (launch latency), 12.3 us
|   8 gaps, 1 of 5.00 us or more; not counted: 155 us before and 6.15 us after all its work
|   GPU idle   share  gaps  cause           what              where
|    12.3 us  57.7 %     1  launch latency  cuLaunchKernelEx
|    8.99 us  42.3 %     7  short gaps      back-to-back
|
|   longest at     idle  step  what the CPU did meanwhile
|     0.156 ms  12.3 us     0  cuLaunchKernelEx 12.3 us
|
| next: strata syncs large.json.gz   which CPU waits leave the GPU idle

# Keys for programs.
$ strata gaps large.json.gz --json --min-us 5
| {
|   "min_us": 5.000,
|   "devices": [
|     {
|       "device": 0,
|       "start_us": 154.841,
|       "window_us": 603.744,
|       "busy_us": 582.464,
|       "idle_us": 21.280,
|       "before_us": 154.841,
|       "after_us": 6.153,
|       "gaps": 8,
|       "gaps_listed": 1,
|       "median_us": 12.288,
|       "p95_us": 12.288,
|       "mean_kernel_us": 64.718,
|       "mean_launch_interval_us": 34.234,
|       "small_shapes": false
|     }
|   ],
|   "causes": [
|     {
|       "device": 0,
|       "kind": "launch_latency",
|       "name": "cuLaunchKernelEx",
|       "source": null,
|       "count": 1,
|       "idle_us": 12.288,
|       "share_pct": 57.7444,
|       "in_steps": 1,
|       "recurs": false,
|       "inside": []
|     },
|     {
|       "device": 0,
|       "kind": "short_gaps",
|       "name": "back-to-back",
|       "source": null,
|       "count": 7,
|       "idle_us": 8.992,
|       "share_pct": 42.2556,
|       "in_steps": 3,
|       "recurs": true,
|       "inside": []
|     }
|   ],
|   "gaps": [
|     {
|       "device": 0,
|       "start_us": 155.641,
|       "dur_us": 12.288,
|       "late_us": 0.000,
|       "step": 0,
|       "sync_site": null,
|       "after": "Memset (Device)",
|       "before": "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT",
|       "launch": "cuLaunchKernelEx",
|       "causes": [
|         {
|           "kind": "launch_latency",
|           "name": "cuLaunchKernelEx",
|           "source": null,
|           "idle_us": 12.288
|         }
|       ]
|     }
|   ],
|   "trace_quality": {
|     "verdict": "good",
|     "idle_trusted": true,
|     "times_trusted": true,
|     "links_trusted": true,
|     "recording_cost_pct": 8.7,
|     "python_sample_us": null,
|     "recording": {
|       "ops": 15,
|       "calls": 10,
|       "python_frames": 0,
|       "memory_events": 0,
|       "cost_us": 40.589,
|       "working_us": 504.616
|     },
|     "recorded": [],
|     "coverage": {
|       "launches_expected": 9,
|       "launches_recorded": 9,
|       "pct": 100.000,
|       "devices": [
|         {
|           "device": 0,
|           "pct": 100.000
|         }
|       ]
|     },
|     "problems": []
|   }
| }

# A trace without a GPU.
$ ln -s $DATA/torch/plain.json.gz cpu.json.gz && strata gaps cpu.json.gz && strata syncs cpu.json.gz && strata gaps --launches cpu.json.gz
| the trace has no device work
|
| next: strata report cpu.json.gz   where the time goes on the CPU
| the trace has no device work
|
| next: strata report cpu.json.gz   where the time goes on the CPU
| the trace has no device work
|
| next: strata report cpu.json.gz   where the time goes on the CPU

$ strata gaps small.json.gz --min-us no
! strata: --min-us takes a number from 0 to 1e+09, not 'no'
? 2
