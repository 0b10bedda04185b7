# The table of a small trace, most device time first.
$ cp $DATA/matmul_add/64_bf16_warm_eager.json.gz mm.json.gz; cp $DATA/tiny.json .
$ cp $DATA/torch/flops.json.gz $DATA/torch/modules.json.gz $DATA/torch/plain.json.gz .
$ strata table mm.json.gz
| 8.32 us of GPU time, most in aten::mm (69.2 %); 411 us of CPU time, most in aten::mm (30.5 %)
|
|   name                             calls  self CPU  CPU total  self GPU  of GPU  GPU total  GPU mean
|   aten::mm                             3    126 us     175 us   5.76 us  69.2 %    5.76 us   1.92 us
|   nvjet_sm90_...4x16_1x4_h_bz_NNT      3         -          -   5.76 us  69.2 %    5.76 us   1.92 us
|   aten::add                            3   35.8 us    62.5 us   2.56 us  30.8 %    2.56 us   0.85 us
|   vectorized_...<CUDAFunctor_add>      3         -          -   2.56 us  30.8 %    2.56 us   0.85 us
|   matmul_add                           3   71.6 us     320 us         -       -    8.32 us   2.77 us
|   ProfilerStep*                        3   70.7 us     390 us         -       -    8.32 us   2.77 us
|   cuLaunchKernelEx                     3   49.5 us    49.5 us         -       -          -         -
|   cudaLaunchKernel                     3   26.7 us    26.7 us         -       -          -         -
|   cudaDeviceSynchronize                1   20.8 us    20.8 us         -       -          -         -
|   aten::matmul                         3   10.6 us     186 us         -       -    5.76 us   1.92 us
|   matmul_add (on the device)           3         -          -    102 us       -     102 us   34.1 us
|   a kernel has a row of its own beside the operator that launches it, as in torch's table
|
| next: strata table mm.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels mm.json.gz                   kernels with occupancy and achieved rates

$ strata table mm.json.gz --sort self_cpu_time_total --limit 3
| 8.32 us of GPU time, most in aten::mm (69.2 %); 411 us of CPU time, most in aten::mm (30.5 %)
|
|   name           calls  self CPU  CPU total  self GPU  of GPU  GPU total  GPU mean
|   aten::mm           3    126 us     175 us   5.76 us  69.2 %    5.76 us   1.92 us
|   matmul_add         3   71.6 us     320 us         -       -    8.32 us   2.77 us
|   ProfilerStep*      3   70.7 us     390 us         -       -    8.32 us   2.77 us
|   ... and 8 more (--limit 0 shows all)
|   a kernel has a row of its own beside the operator that launches it, as in torch's table
|
| next: strata table mm.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels mm.json.gz                   kernels with occupancy and achieved rates

# Grouped, and with every column.
$ strata table flops.json.gz --by shape --sort flops --limit 4
| 184 ms of CPU time, most in aten::mkldnn_convolution (62.9 %)
|
|   name           input shapes                     calls  self CPU    FLOP
|   aten::conv2d   [2, 3, 16, 16], [6, 3, 3, 3]         2   41.0 us  41,472
|   aten::conv2d   [2, 3, 16, 16], [6, 1, 3, 3]         1   10.0 us  31,104
|   aten::bmm      [3, 4, 5], [3, 5, 6]                 1   47.9 us     720
|   aten::baddbmm  [3, 4, 6], [3, 4, 5], [3, 5, 6]      1   23.8 us     720
|   ... and 61 more (--limit 0 shows all)
|
| next: strata table flops.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs

$ strata table modules.json.gz --by module --sort cpu --limit 4
| 408 us of CPU time, most in aten::_softmax (18.9 %)
|
|   name            module    calls  self CPU
|   aten::linear    Linear_0      1   9.96 us
|   aten::addmm     Linear_0      1   68.7 us
|   aten::softmax   Net_0         1   6.14 us
|   aten::_softmax  Net_0         1   77.0 us
|   ... and 36 more (--limit 0 shows all)
|
| next: strata table modules.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs

$ strata table flops.json.gz --wide --limit 3
| 184 ms of CPU time, most in aten::mkldnn_convolution (99.5 %)
|
|   name                      calls  self CPU  of CPU  CPU total  of CPU  CPU mean  FLOP
|   aten::mkldnn_convolution      3    183 ms  99.5 %     183 ms  99.6 %  61078 us     -
|   aten::empty                  28   0.12 ms   0.1 %    0.12 ms   0.1 %   4.30 us     -
|   aten::randn                  22   0.11 ms   0.1 %    0.27 ms   0.1 %   12.2 us     -
|   ... and 24 more (--limit 0 shows all)
|
| next: strata table flops.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs

# For programs.
$ strata table tiny.json --json --limit 2 --by stack --depth 1
| {
|   "by": "stack",
|   "n_rows": 10,
|   "rows": [
|     {
|       "name": "aten::mm",
|       "device": "cpu",
|       "is_annotation": false,
|       "stack": [
|         "pipe.py(12): denoise"
|       ],
|       "calls": 2,
|       "self_cpu_us": 31.000,
|       "self_cpu_pct": 10.9541,
|       "cpu_total_us": 41.000,
|       "cpu_total_pct": 14.4876,
|       "cpu_avg_us": 20.500000,
|       "self_device_us": 120.000,
|       "self_device_pct": 96.7742,
|       "device_total_us": 120.000,
|       "device_avg_us": 60.000000,
|       "cpu_mem_bytes": 0,
|       "self_cpu_mem_bytes": 0,
|       "device_mem_bytes": 16384,
|       "self_device_mem_bytes": 16384,
|       "flops": 1048576
|     },
|     {
|       "name": "void gemm<float, 128>(float*, int)",
|       "device": "cuda",
|       "is_annotation": false,
|       "stack": [
|         "pipe.py(12): denoise"
|       ],
|       "calls": 2,
|       "self_cpu_us": 0.000,
|       "self_cpu_pct": 0.0000,
|       "cpu_total_us": 0.000,
|       "cpu_total_pct": 0.0000,
|       "cpu_avg_us": 0.000000,
|       "self_device_us": 120.000,
|       "self_device_pct": 96.7742,
|       "device_total_us": 120.000,
|       "device_avg_us": 60.000000,
|       "cpu_mem_bytes": 0,
|       "self_cpu_mem_bytes": 0,
|       "device_mem_bytes": 0,
|       "self_device_mem_bytes": 0,
|       "flops": 0
|     }
|   ],
|   "totals": {
|     "self_cpu_us": 283.000,
|     "self_device_us": 124.000
|   },
|   "n_unfinished": 0,
|   "trace_quality": {
|     "verdict": "good",
|     "idle_trusted": true,
|     "times_trusted": true,
|     "links_trusted": true,
|     "recording_cost_pct": 8.2,
|     "python_sample_us": null,
|     "recording": {
|       "ops": 8,
|       "calls": 6,
|       "python_frames": 3,
|       "memory_events": 2,
|       "cost_us": 24.618,
|       "working_us": 324.000
|     },
|     "recorded": [
|       "stacks",
|       "shapes",
|       "memory"
|     ],
|     "coverage": {
|       "launches_expected": 4,
|       "launches_recorded": 4,
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

# What was not recorded cannot tell rows apart.
$ strata table plain.json.gz --by stack --limit 1
| 25.2 ms of CPU time, most in aten::_softmax (99.0 %)
|
|   name            called from  calls  self CPU
|   aten::_softmax                   1   25.0 ms
|   ... and 19 more (--limit 0 shows all)
|
| next: strata table plain.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs
! strata: the trace has no Python stacks; record with with_stack=True

$ strata table tiny.json --sort self_gpo
! strata: unknown sort key 'self_gpo'. Did you mean 'self_cpu'?
? 2

$ strata table tiny.json --limit -1
! strata: --limit takes a whole number from 0 to 2147483647, not '-1'
? 2

$ strata table
! strata: table needs TRACE; strata table --help has an example
? 2

# Sorted by memory, the table shows it.
$ strata table tiny.json --sort self_cuda_memory_usage --limit 2
| 124 us of GPU time, most in aten::mm (96.8 %); 283 us of CPU time, most in ProfilerStep* (27.9 %)
|
|   name                     calls  self CPU  self GPU  of GPU  GPU mean  GPU memory  self GPU memory
|   aten::mm                     2   31.0 us    120 us  96.8 %   60.0 us     16.4 kB          16.4 kB
|   Activity Buffer Request      1   3.00 us         -       -         -           -                -
|   ... and 8 more (--limit 0 shows all)
|   a kernel has a row of its own beside the operator that launches it, as in torch's table
|   key_averages() of torch 2.11 to 2.13 counts the GPU work under Activity Buffer Request twice
|
| next: strata table tiny.json --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels tiny.json                   kernels with occupancy and achieved rates
