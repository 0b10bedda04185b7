# Screens depend on the length of the path, so the traces are looked at from here.
$ cp $DATA/matmul_add/4096_bf16_warm_eager.json.gz $DATA/matmul_add/64_bf16_warm_eager.json.gz $DATA/wan/wan_before_compile.json.gz .

# Small kernels far apart: the GPU waits for launches.
$ strata gaps --launches 64_bf16_warm_eager.json.gz
| shown: what can be judged, 278 us of the 499 us recorded
| left out: start-up 221 us (--whole includes it)
|
| GPU 0: the GPU waits for launches: the CPU does not run ahead
|   queue depth  mean 0.2, median 0, p95 1, deepest 1
|     empty 78.7 % of the time, depth 2 or less 100 %; empty and the GPU idle 74.7 %
|     over time               ▃█████▂                           ▁███▇    ▇██▆  (top: 1.0)
|
|   launch latency, stream idle         4   median   9.34 us   p95   12.9 us   after the call starts
|                                       4   median   1.38 us   p95   1.91 us   after it returns
|   kernel duration                     4   median   1.39 us   p95   1.92 us
|   interval between launches           3   median   41.9 us   p95   80.4 us
|
|   stage       launches  kernels  idle start  depth  latency   kernel  interval
|   matmul_add         4        4       100 %      -  9.34 us  1.39 us   41.9 us  launch-bound
|
|   CPU cost per call  calls    total   median      p95
|   cuLaunchKernelEx       2  31.6 us  15.8 us  23.9 us
|   cudaLaunchKernel       2  17.8 us  8.88 us  11.6 us
|
|   idle start: kernels whose stream was idle. latency: from the start of the launch call to the
|   kernel's start, for these kernels. depth: work queued at the launch. A deep queue is healthy.
|
| next: strata gaps 64_bf16_warm_eager.json.gz                        why the GPU was idle
|       strata whatif 64_bf16_warm_eager.json.gz --cuda-graph STAGE   what one graph launch would gain

# Large ones: the CPU is ahead, and long waits in the queue are no latency.
$ strata gaps --launches 4096_bf16_warm_eager.json.gz | head -12
| GPU 0: the CPU runs ahead: the GPU hardly ever waits for a launch
|   queue depth  mean 2.0, median 1, p95 4, deepest 4
|     empty 8.4 % of the time, depth 2 or less 59.0 %; empty and the GPU idle 0.0 %
|     over time  ▂▁  ▂▂▂▂▂▂▂▂▂▅▆▇███▆▆▄▂▄▆▇████████████▇▆▆▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂    (top: 4.0)
|
|   launch latency, stream idle         1   median   14.0 us   p95   14.0 us   after the call starts
|                                       1   median    429 ns   p95    429 ns   after it returns
|   queue wait, stream busy             5   median    173 us   p95    323 us   not latency
|     gap to previous kernel            5   median   1.57 us   p95   2.08 us
|   kernel duration                     6   median   95.5 us   p95    176 us
|   interval between launches           5   median   42.4 us   p95   95.6 us
|

# A deep queue is healthy.
$ strata gaps --launches wan_before_compile.json.gz --json | python3 -c 'import json, sys
> r = json.load(sys.stdin)
> d = r["devices"][0]
> print(d["ahead"], d["median_depth"], d["max_depth"], d["empty_pct"])
> print(r["all"]["latency_from_call_end"]["median_us"], r["all"]["queue_wait"]["median_us"])
> print([s["path"] for s in r["stages"] if s["launch_bound"]])'
| cpu 766 1022 1.273
| 1.479 445025.8
| []
