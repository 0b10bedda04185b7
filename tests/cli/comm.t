# Communication is a class of its own: what of it is exposed is part of the verdict.
$ strata report $DATA/comm/slow_rank/rank0.json
| rank0.json  5 steps  116 events
| trace quality: good (replay error 0.0 %; about 5.64 ms without the profiler, 5.64 ms with it)
|
|   5.64 ms wall, GPU-bound: the GPU is busy 98.6 % of the time, 23.2 % with communication alone. Make
|   the kernels faster; a faster CPU side gains at most 1.4 %
|
|   communication: 2.31 ms in 10 calls, 43.2 % of it hidden under other work; 1.31 ms exposed, 23.2 %
|   of the wall clock
|   collective  group                calls     time  exposed  hidden   bytes   GB/s  bus GB/s
|   all_reduce  default_pg, 4 ranks     10  2305 us  1310 us    43 %  105 MB  46.83     70.25
|
|   stage             calls      CPU      GPU  GPU idle  kernels  syncs
|   step                  5   590 us  6555 us   5.00 us       55      -
|   (between stages)         8.00 us        -         -        -      -
|   (derived: no label covers them; strata stages lists all of them)
|
|   what fills the GPU's time (what this GPU reaches is unknown); 35 % of it is communication
|   kernel                               launched by       of GPU time  reaches  of its roof  headroom
|   ncclDevKerne...duce_Sum_f32_RING_LL  cudaLaunchKernel       35.2 %        -      unknown         -
|   gemm_forward                         cudaLaunchKernel       30.5 %        -      unknown         -
|   gemm_backward                        cudaLaunchKernel       30.5 %        -      unknown         -
|   adam_kernel                          cudaLaunchKernel        3.8 %        -      unknown         -
|
|   findings by gain: wall time saved without the profiler, if the findings above are fixed too
|   1  high   communication is not hidden under compute   all_reduce, nccl...ernelArgsStorage<4096ul>)
|             blocked 2.31 ms, exposed 1.31 ms, gain 1.31 ms = 23.2 %; effort: local
|             Communication takes 2.31 ms, and for 1.31 ms of it the GPU does nothing else: compute
|             waits for the result.
|             Start it as soon as its input is ready and wait for it as late as possible: gradients in
|             buckets while backward still runs (bucket_cap_mb of DDP, prefetching in FSDP),
|             async_op=True with the wait moved down. Where little compute is left to hide it: fewer
|             and larger messages, a smaller type, another algorithm (NCCL_ALGO, NCCL_PROTO). Where a
|             rank comes late, strata ranks says which.
|             overlap          23.2 %  local     runs beside compute that does not need the result, as
|                                                far as there is any
|
|   checklist
|     !!  the GPU is busy 98.6 % of the time, but 23.2 % with communication alone
|     ok  the CPU never waits for the GPU inside the loop
|     ?   no stage is named scheduler; annotate the pipeline's stages to see their shares
|     ok  eager: 11 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     !!  launch latency is 30.0 us (idle stream); queue depth at most 49: the CPU barely keeps up
|
|   ladder, without the profiler                           wall  of today
|   as it is                                            5639 us     100 %
|   after 1: communication is not hidden under compute  4329 us    76.8 %
|   the GPU alone                                       4255 us    75.5 %
|
| next: strata kernels $DATA/comm/slow_rank/rank0.json --filter ccl
|       strata gaps $DATA/comm/slow_rank/rank0.json
|       strata report $DATA/comm/slow_rank/rank0.json --html report.html
$ strata report $DATA/comm/slow_rank/rank0.json --json | jq -c '.bound, (.communication | del(.collectives)), .communication.collectives[]'
| "gpu"
| {"device":0,"recorded_us":5643,"compute_us":4250,"copy_us":0,"comm_us":2305,"exposed_us":1310,"exposed_pct":23.215,"overlap_pct":43.167,"groups":[{"group":"0","group_description":"default_pg","group_size":4,"calls":10,"time_us":2305,"exposed_us":1310}]}
| {"name":"all_reduce","kernel":"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)","group":"0","group_description":"default_pg","group_size":4,"calls":10,"time_us":2305,"exposed_us":1310,"overlap_pct":43.167,"min_us":220,"median_us":230.5,"max_us":241,"bytes":104857600,"algo_gb_per_s":46.832,"bus_gb_per_s":70.248,"best_bus_gb_per_s":114.39}
$ strata steps $DATA/comm/slow_rank/rank0.json
| 5 steps, marked by the profiler (ProfilerStep#)
|   step   start    wall  blocked  GPU busy  GPU span     idle  kernels  copies  syncs  exposed comm
|     #0       -  118 us        -   1112 us   1121 us  9.00 us       11       -      -        262 us
|     #1  120 us  118 us        -   1112 us   1121 us  9.00 us       11       -      -        262 us
|     #2  240 us  118 us        -   1112 us   1121 us  9.00 us       11       -      -        262 us
|     #3  360 us  118 us        -   1112 us   1121 us  9.00 us       11       -      -        262 us
|     #4  480 us  118 us        -   1112 us   1121 us  9.00 us       11       -      -        262 us
|   median  118 us CPU wall, 11 launches
|
| next: strata stages $DATA/comm/slow_rank/rank0.json   what a step consists of
|       strata report $DATA/comm/slow_rank/rank0.json   what is slow and why
$ strata steps $DATA/comm/slow_rank/rank0.json --json | jq -c '.steps[0] | [.comm_us, .exposed_comm_us]'
| [461,262]
$ strata kernels $DATA/comm/slow_rank/rank0.json --json | jq -c '.communication | [.exposed_us, .exposed_pct]'
| [1310,23.215]
