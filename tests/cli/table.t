# The table of a small trace, most device time first.
$ cp $DATA/matmul_add/64_bf16_warm_eager.json.gz mm.json.gz; cp $DATA/tiny.json .
$ cp $DATA/torch/flops.json.gz $DATA/torch/modules.json.gz $DATA/torch/plain.json.gz .
$ strata table mm.json.gz
| times in us, averages in us, % of the total below
|
|   name                                calls  self CPU  CPU total  self GPU     %  GPU total  GPU avg
|   aten::mm                                3       126        175      5.76  69.2       5.76     1.92
|   nvjet_sm90_t..._64x16_1x4_h_bz_NNT      3         -          -      5.76  69.2       5.76     1.92
|   aten::add                               3      35.8       62.5      2.56  30.8       2.56     0.85
|   vectorized_e...el<CUDAFunctor_add>      3         -          -      2.56  30.8       2.56     0.85
|   matmul_add                              3      71.6        320         -     -       8.32     2.77
|   ProfilerStep*                           3      70.7        390         -     -       8.32     2.77
|   cuLaunchKernelEx                        3      49.5       49.5         -     -          -        -
|   cudaLaunchKernel                        3      26.7       26.7         -     -          -        -
|   cudaDeviceSynchronize                   1      20.8       20.8         -     -          -        -
|   aten::matmul                            3      10.6        186         -     -       5.76     1.92
|   matmul_add (on the device)              3         -          -       102     -        102     34.1
|
|   self CPU time total 411 us   self GPU time total 8.32 us
|
| next: strata table mm.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels mm.json.gz                   kernels with occupancy and achieved rates

$ strata table mm.json.gz --sort self_cpu_time_total --limit 3
| times in us, averages in us, % of the total below
|
|   name           calls  self CPU  CPU total  self GPU     %  GPU total  GPU avg
|   aten::mm           3       126        175      5.76  69.2       5.76     1.92
|   matmul_add         3      71.6        320         -     -       8.32     2.77
|   ProfilerStep*      3      70.7        390         -     -       8.32     2.77
|   ... and 8 more (--limit 0 shows all)
|
|   self CPU time total 411 us   self GPU time total 8.32 us
|
| next: strata table mm.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels mm.json.gz                   kernels with occupancy and achieved rates

# Grouped, and with every column.
$ strata table flops.json.gz --by shape --sort flops --limit 4
| times in ms
|
|   name           input shapes                     calls  self CPU    FLOP
|   aten::conv2d   [2, 3, 16, 16], [6, 3, 3, 3]         2      0.04  41.5 K
|   aten::conv2d   [2, 3, 16, 16], [6, 1, 3, 3]         1      0.01  31.1 K
|   aten::bmm      [3, 4, 5], [3, 5, 6]                 1      0.05     720
|   aten::baddbmm  [3, 4, 6], [3, 4, 5], [3, 5, 6]      1      0.02     720
|   ... and 61 more (--limit 0 shows all)
|
|   self CPU time total 184 ms
|
| next: strata table flops.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs

$ strata table modules.json.gz --by module --sort cpu --limit 4
| times in us
|
|   name            module    calls  self CPU
|   aten::linear    Linear_0      1      9.96
|   aten::addmm     Linear_0      1      68.7
|   aten::softmax   Net_0         1      6.14
|   aten::_softmax  Net_0         1      77.0
|   ... and 36 more (--limit 0 shows all)
|
|   self CPU time total 408 us
|
| next: strata table modules.json.gz --by shape --wide   which shapes cost most, with memory and FLOPs

$ strata table flops.json.gz --wide --limit 3
| times in ms, averages in us, % of the total below
|
|   name                      calls  self CPU     %  CPU total     %  CPU avg  FLOP
|   aten::mkldnn_convolution      3       183  99.5        183  99.6    61078     -
|   aten::empty                  28      0.12   0.1       0.12   0.1     4.30     -
|   aten::randn                  22      0.11   0.1       0.27   0.1     12.2     -
|   ... and 24 more (--limit 0 shows all)
|
|   self CPU time total 184 ms
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
|     "recording_cost_pct": 9.0,
|     "python_sample_us": null,
|     "recording": {
|       "ops": 8,
|       "calls": 6,
|       "python_frames": 3,
|       "memory_events": 2,
|       "cost_us": 26.650,
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
|     "doubts": []
|   }
| }

# What was not recorded cannot tell rows apart.
$ strata table plain.json.gz --by stack --limit 1
| times in ms
|
|   name            called from  calls  self CPU
|   aten::_softmax                   1      25.0
|   ... and 19 more (--limit 0 shows all)
|
|   self CPU time total 25.2 ms
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
| times in us, averages in us, % of the total below
|
|   name                     calls  self CPU  self GPU     %  GPU avg  GPU mem  self GPU mem
|   aten::mm                     2      31.0       120  96.8     60.0  16.4 kB       16.4 kB
|   Activity Buffer Request      1      3.00         -     -        -        -             -
|   ... and 8 more (--limit 0 shows all)
|
|   self CPU time total 283 us   self GPU time total 124 us
|
| next: strata table tiny.json --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels tiny.json                   kernels with occupancy and achieved rates
