# A thread that had no core for half of a stretch: that half is not the fault of the function it was in.
$ printf '{"traceEvents":[\n{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":7,"ts":0,"dur":5,"args":{"correlation":1}},\n{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":990,"args":{"device":0,"stream":7,"correlation":1}},\n{"ph":"X","cat":"python_function","name":"train.py(3): step","pid":1,"tid":7,"ts":6,"dur":9000},\n' > late.json
$ printf '{"ph":"X","cat":"host_stall","name":"no core","pid":1,"tid":7,"ts":5,"dur":9990,"args":{"thread":7,"lost_us":4995,"runnable":80,"online":16,"cores":16}},\n{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":7,"ts":9995,"dur":5,"args":{"correlation":2}},\n{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10000,"dur":1000,"args":{"device":0,"stream":7,"correlation":2}}]}\n' >> late.json
$ strata gaps late.json --whole
| GPU 0 is idle for 9.00 ms of 11.0 ms (81.9 %)
|   largest cause: 80 runnable threads on 16 cores (no core), 4.00 ms
|   1 gap, 1 of 5.00 us or more; not counted: 10.0 us before and 0 after all its work
|   GPU idle   share  gaps  cause         what                          where
|    4003 us  44.5 %     1  no core       80 runnabl...ads on 16 cores  train.py:3
|    4003 us  44.5 %     1  Python        step                          train.py:3
|     494 us   5.5 %     1  no core       80 runnabl...ads on 16 cores
|     494 us   5.5 %     1  not recorded  CPU work not recorded
|   1 more row holds the other 0.1 % (--limit 0 shows all)
|
|   longest at     idle  step  what the CPU did meanwhile
|     1.000 ms  9000 us     -  80 runnabl...reads on 16 co...ms, 80 runnabl...reads on 16 cores 494 us
|
| next: strata syncs late.json --whole                    which CPU waits leave the GPU idle
|       strata whatif late.json --whole --drop-cpu step   what removing it would gain
