# Nothing is later for what does not happen, also where work has no launch in the trace.
$ echo '{"traceEvents":[{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":23,"dur":4,"args":{"correlation":1}},
> {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":25,"args":{"correlation":1}},
> {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":93,"dur":4,"args":{"correlation":2}},
> {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":80,"dur":13,"args":{"correlation":2}},
> {"ph":"X","cat":"kernel","name":"","pid":0,"tid":7,"ts":135,"dur":3}]}' > w.json
$ strata whatif w.json --drop-kernel . | grep profiler
|   0.1188 -> 0.1188 ms   no change (below 0.05 %)   (without the profiler)
|          profiler estimated: 19.2 us per launch, 6.5 us per operator
| next: --wall MS (the wall time without a profiler) replaces the estimated cost with a fitted one

# Steps that are nothing but copies say nothing about steps without them.
$ echo '{"traceEvents":[{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":0,"dur":2},
> {"ph":"X","cat":"user_annotation","name":"load_module","pid":1,"tid":1,"ts":23,"dur":2180},
> {"ph":"X","cat":"user_annotation","name":"load_module","pid":1,"tid":1,"ts":2368,"dur":78},
> {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":175,"dur":1927,
>  "args":{"correlation":9,"bytes":18874368}},
> {"ph":"X","cat":"cuda_runtime","pid":1,"tid":1,"ts":55,"dur":2028,"args":{"correlation":9}}]}' > o.json
$ strata offload o.json
! strata: the steps of this trace run nothing but copies of weights: how long they take without those cannot be predicted
? 3

# A first step is not infinitely slower than steps that take no time.
$ echo '{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":5},
> {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":10,"dur":0},
> {"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":10,"dur":0},
> {"ph":"X","cat":"user_annotation","name":"ProfilerStep#4","pid":1,"tid":1,"ts":10,"dur":0}]}' > s.json
$ strata steps s.json | grep -c inf
| 0
? 1
