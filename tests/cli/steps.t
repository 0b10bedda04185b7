# Screens depend on the length of the path, so the traces are looked at from here.
$ cp $DATA/flux2/flux2_before_compile.json.gz $DATA/matmul_add/128_bf16_warm_eager.json.gz $DATA/matmul_add/64_bf16_cold_eager.json.gz $DATA/tiny.json $DATA/wan/wan_before_compile.json.gz .

# Steps marked by the profiler; the first is cold, and nothing happens in it before its first op.
$ strata steps 64_bf16_cold_eager.json.gz
| 3 steps of 93.6 us (10,687 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step   start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
|      2       -   301 us        -   2.82 us   62.9 us    60.1 us        2       -      -  slow start
|      3  329 us   105 us        -   2.78 us   24.8 us    22.0 us        2       -      -
|      4  450 us  81.9 us        -   2.82 us   22.4 us    19.6 us        2       -      -
|   median: 93.6 us on the CPU, 2 launches
|   the first step takes 3.2 times the median: the warm-up is inside the recorded window
|   nothing is recorded in matmul_add for 26.7 us (later 6.71 us)
|   before its first operator, aten::matmul: a cold start; warm up before recording
|
| next: strata stages 64_bf16_cold_eager.json.gz   what a step consists of
|       strata report 64_bf16_cold_eager.json.gz   what is slow and why

# The profiler's own buffers are not the program's slow start.
$ strata steps 128_bf16_warm_eager.json.gz --limit 3
| 20 steps of 51.8 us (19,305 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
|      0        -  2393 us        -   3.23 us    125 us     122 us        2       -      -  slow start
|      1  2437 us   141 us        -   3.07 us   23.6 us    20.6 us        2       -      -  outlier
|      2  2592 us  60.8 us        -   3.07 us   16.1 us    13.0 us        2       -      -
|   ... and 17 more (--limit 0 shows all)
|   median: 51.8 us on the CPU, 2 launches
|   the first step takes 46.2 times the median: the profiler spends 1.91 ms of it on its own buffers
|
| next: strata stages 128_bf16_warm_eager.json.gz   what a step consists of
|       strata report 128_bf16_warm_eager.json.gz   what is slow and why

# Two forwards (guidance) and a scheduler step are one step.
$ strata steps wan_before_compile.json.gz | head -6
| 2 steps of 1.05 s (0.95 steps per second), as recorded
|   found from labels: 3 labels per step, the first is transformer_forward
|   1 call of pipeline_call > 2 steps of transformer_forward > 2 calls of WanTransformer3DModel each >
|   30 layers of WanTransformerBlock each
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
|      0  43.2 ms  1053 ms   565 ms   1038 ms   1045 ms    7889 us    1,289       5      4
$ strata steps flux2_before_compile.json.gz --json | python3 -c 'import json, sys
> r = json.load(sys.stdin)
> print(r["found_by"], r["items_per_step"], r["trace_quality"]["verdict"])
> for s in r["steps"]: print(s["index"], s["name"], s["dur_us"], s["gpu_us"], s["kernels"], s["syncs"])'
| annotations 3 good
| 0 transformer_forward 140176.627 238458.739 1117 0
| 1 transformer_forward 151900.132 246154.801 1115 0

# Without labels the loop is found from what is launched; with too little of it, it is not invented.
$ zcat $DATA/wan/wan_before_compile.json.gz | sed 's/"user_annotation"/"ignored"/' > unlabelled.json
$ strata steps unlabelled.json | head -5
| 2 steps of 1.06 s (0.95 steps per second), as recorded
|   found without labels: calls of WanTransformer3DModel
|   2 steps of WanTransformer3DModel > 2 calls of WanTransformer3DModel each > 30 layers of
|   WanTransformerBlock each
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
$ strata steps tiny.json
| 2 steps of 140 us (7,142 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step    start    wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
|      2  5.00 us  140 us  38.0 us   62.0 us   68.0 us    6.00 us        1       1      1
|      3   155 us  140 us  38.0 us   62.0 us   68.0 us    6.00 us        1       1      1
|   median: 140 us on the CPU, 2 launches
|
| next: strata stages tiny.json   what a step consists of
|       strata report tiny.json   what is slow and why

# A saturated GPU whose records were dropped is not called idle.
$ zcat $DATA/matmul_add/128_bf16_warm_eager.json.gz | python3 -c 'import json, sys
> t = json.load(sys.stdin)
> kernels = [e for e in t["traceEvents"] if e.get("cat") == "kernel"]
> lost = {id(e) for e in kernels[2:-1]}
> t["traceEvents"] = [e for e in t["traceEvents"] if id(e) not in lost]
> json.dump(t, sys.stdout)' > dropped.json
$ strata steps dropped.json --limit 2
| trace quality: unusable (recording made the CPU side take about 4 % longer)
|   unusable: 37 of 40 launches (92.5 %) have no device record
|     device time is too low and idle time too high; idle time cannot be trusted
|     record fewer steps (schedule(wait=1, warmup=1, active=2)) without stacks and shapes, and call
|     torch.cuda.synchronize() before the profiler stops
|   doubtful: 18 of 20 steps have no device records
|     averages over steps are too low
|     call torch.cuda.synchronize() before the profiler stops
|
| 20 steps of 49.9 us (20,028 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
|      0        -  2393 us        -   3.23 us    125 us          ?        2       -      -  slow start
|      1  2437 us   141 us        -         -         -          ?        -       -      -  no GPU work
|   ... and 18 more (--limit 0 shows all)
|   median: 49.9 us on the CPU, 2 launches
|   18 steps without GPU records: leave them out of averages
|   the first step takes 47.9 times the median: the profiler spends 1.91 ms of it on its own buffers
|
| next: strata stages dropped.json   what a step consists of
|       strata report dropped.json   what is slow and why

# What repeats, outer to inner: calls of a function, or nothing but operators and the pauses between calls.
$ cp $DATA/advice/elementwise_chain_stack.json.gz . && strata steps elementwise_chain_stack.json.gz | head -4
| 4 steps of 8.16 ms (123 steps per second), as recorded
|   found without labels: calls of chain
|   4 steps of chain > 4 layers each
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
$ zcat $DATA/advice/elementwise_chain_stack.json.gz | sed 's/"python_function"/"ignored"/' > light.json
$ strata steps light.json | head -4
| 4 steps of 8.16 ms (123 steps per second), as recorded
|   found without labels: a sequence of 28 operators repeats
|   4 steps > 4 layers each
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
$ strata steps light.json --json | python3 -c 'import json, sys
> r = json.load(sys.stdin)
> print(r["found_by"], r["items_per_step"])
> for l in r["levels"]: print(sorted(l), l["role"], l["name"], l["count"], l["per_outer"], l["found_by"])'
| operator_sequence 28
| ['count', 'found_by', 'median_us', 'name', 'per_outer', 'role'] step None 4 4 operator_sequence
| ['count', 'found_by', 'median_us', 'name', 'per_outer', 'role'] layer None 16 4 operator_sequence
$ zcat $DATA/whatif/gpubound_v0.json.gz | sed 's/"user_annotation"/"ignored"/' > blocks.json
$ strata steps blocks.json | head -4
| 6 steps of 17.7 ms (56.5 steps per second), as recorded
|   found without labels: a sequence of 126 operators repeats
|   6 steps > 12 layers each
|   step    start     wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs

# A trace of the CPU alone has no columns of the GPU.

$ python3 -c 'import json
> step = lambda i: {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": 100 * i, "dur": 100}
> op = lambda i: {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 100 * i + 5, "dur": 80}
> json.dump({"traceEvents": [f(i) for i in range(3) for f in (step, op)]}, open("cpu.json", "w"))'
$ strata steps cpu.json
| 3 steps of 100 us (10,000 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step   start    wall
|      0       -  100 us
|      1  100 us  100 us
|      2  200 us  100 us
|   median: 100 us on the CPU
|
| next: strata stages cpu.json   what a step consists of
|       strata report cpu.json   what is slow and why
