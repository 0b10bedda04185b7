# Communication is a class of its own: what of it is exposed is part of the verdict.
$ strata report -v $DATA/comm/slow_rank/rank0.json
| rank0.json   5 steps   5.82 ms
| trace quality: good (replay error 0.0 %; about 5.82 ms without the profiler, 5.84 ms with it)
|
|   1.3x faster with overlapped communication: 5.82 -> 4.51 ms (-23 %)
|
|   communication: 2.31 ms in 10 calls, 43.2 % of it overlapped by other work; 1.31 ms not overlapped,
|   22.4 % of the wall clock
|   collective  group                calls     time    alone  hidden   bytes  GB/s  bus GB/s
|   all_reduce  default_pg, 4 ranks     10  2305 us  1310 us  43.2 %  105 MB  46.8      70.2
|
|   stage                                            calls      CPU      GPU  GPU idle  kernels  syncs
|   step                                                 5  5835 us  6655 us    150 us       60      5
|     enumerate(DataL...cessDataLoaderIter.__next__      5  50.0 us        -   40.0 us        -      -
|   (between stages)                                     -  4.00 us        -   4.00 us        -      -
|   (derived: no label covers them; strata stages shows every one)
|
|   what fills the GPU's time (what this GPU reaches is unknown); 35 % of it is communication
|   kernel                               launched by       of GPU time  reaches  of its roof  headroom
|   ncclDevKerne...duce_Sum_f32_RING_LL  cudaLaunchKernel       34.6 %        -      unknown         -
|   gemm_forward                         cudaLaunchKernel       30.1 %        -      unknown         -
|   gemm_backward                        cudaLaunchKernel       30.1 %        -      unknown         -
|   adam_kernel                          cudaLaunchKernel        3.8 %        -      unknown         -
|   clip_kernel                          cudaLaunchKernel        1.5 %        -      unknown         -
|
|   findings by gain: wall time saved without the profiler, if the findings above are fixed too
|   1  high   communication is not overlapped   all_reduce in ncclDevKernel_AllReduce_Sum_f32_RING_LL
|             exposed_comm: 2.31 ms on the GPU, gain 1.31 ms = 22.5 %; effort: some lines
|             Communication takes 2.31 ms, and for 1.31 ms of it the GPU does nothing else: compute
|             waits for the result.
|             Start it as soon as its input is ready, and wait for it as late as possible
|             (async_op=True, bucket_cap_mb of DDP, prefetching in FSDP). Where little compute is left
|             to hide it, send fewer and larger messages, use a smaller type, or another algorithm
|             (NCCL_ALGO, NCCL_PROTO). Where a rank comes late, strata report --ranks FOLDER says
|             which.
|             overlapped communication  22.5 %  some lines  runs beside compute that does not need the
|                                                           result, as far as there is any
|   2  low    explicit synchronize drains the queue   ProfilerStep#0
|             sync_in_loop: blocked 5.42 ms, exposed 56.0 us, gain 89.2 us = 1.5 %; effort: one line
|             The program explicitly waits for the device.
|             Remove it unless the CPU needs the result here. To time the work without stopping it,
|             use events, or synchronize once at the end.
|
|   checklist
|     !!  the GPU is busy 97.2 % of the time, 22.4 % of the trace with communication alone; fixing
|         finding 1 (communication is not overlapped) gains 22.5 %
|     !!  1 sync per step: in total the CPU is blocked for 5.42 ms and the GPU idle for 56.0 us
|         (1.0 %); fixing finding 2 (explicit synchronize drains the queue) gains 1.5 %
|     ?   how fast the kernels could be is unknown: record with record_shapes=True
|     ok  12 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     ok  launch latency is 298 us (idle stream); the CPU runs ahead: the GPU hardly ever waits for a
|         launch
|
|   ladder, without the profiler                       wall   share
|   now                                             5822 us   100 %
|   after 1: communication is not overlapped        4512 us  77.5 %
|   after 2: explicit synchronize drains the queue  4423 us  76.0 %
|   the GPU alone                                   4355 us  74.8 %
|
| next: strata kernels $DATA/comm/slow_rank/rank0.json --filter ccl
|       strata gaps $DATA/comm/slow_rank/rank0.json
|       strata report $DATA/comm/slow_rank/rank0.json --html report.html
$ strata report $DATA/comm/slow_rank/rank0.json --json | jq -c '.bound, (.communication | del(.collectives)), .communication.collectives[]'
| "gpu"
| {"device":0,"recorded_us":5839,"compute_us":4350,"copy_us":0,"comm_us":2305,"exposed_us":1310,"exposed_pct":22.435,"overlap_pct":43.167,"groups":[{"group":"0","group_description":"default_pg","group_size":4,"calls":10,"time_us":2305,"exposed_us":1310}]}
| {"name":"all_reduce","kernel":"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)","group":"0","group_description":"default_pg","group_size":4,"calls":10,"time_us":2305,"exposed_us":1310,"overlap_pct":43.167,"min_us":220,"median_us":230.5,"max_us":241,"bytes":104857600,"algo_gb_per_s":46.832,"bus_gb_per_s":70.248,"best_bus_gb_per_s":114.39}
$ strata steps $DATA/comm/slow_rank/rank0.json
| 5 steps of 1.17 ms (857 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs  comm alone
|      0        -  1167 us  1085 us   1132 us   1142 us    10.0 us       12       -      1      262 us
|      1  1168 us  1167 us  1085 us   1132 us   1142 us    10.0 us       12       -      1      262 us
|      2  2336 us  1167 us  1085 us   1132 us   1142 us    10.0 us       12       -      1      262 us
|      3  3504 us  1167 us  1085 us   1132 us   1142 us    10.0 us       12       -      1      262 us
|      4  4672 us  1167 us  1085 us   1132 us   1142 us    10.0 us       12       -      1      262 us
|   median: 1.17 ms on the CPU, 12 launches
|
| next: strata stages $DATA/comm/slow_rank/rank0.json   what a step consists of
|       strata report $DATA/comm/slow_rank/rank0.json   what is slow and why
$ strata steps $DATA/comm/slow_rank/rank0.json --json | jq -c '.steps[0] | [.comm_us, .exposed_comm_us]'
| [461,262]
$ strata kernels $DATA/comm/slow_rank/rank0.json --json | jq -c '.communication | [.exposed_us, .exposed_pct]'
| [1310,22.435]
