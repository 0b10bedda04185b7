# Screens depend on the length of the path, so the traces are looked at from here.
$ cp $DATA/matmul_add/64_bf16_warm_eager.json.gz $DATA/wan/wan_before_compile.json.gz .

# One stage, and what lies between its calls.
$ strata stages 64_bf16_warm_eager.json.gz
|   stage             calls      CPU  of step      GPU  of step  GPU idle  kernels  syncs
|   matmul_add            3   320 us   81.9 %  8321 ns    100 %    187 us        6      -
|   (between stages)      -  68.0 us                 -            68.0 us        -      -
|
|   time per call  CPU first   median     p95  GPU first   median      p95
|   matmul_add        167 us  92.6 us  167 us    2785 ns  2784 ns  2785 ns
|
|   device and memory  GPU span  span idle  launches  copies  copied  allocs  mallocs  peak mem
|   matmul_add           102 us    94.0 us         6       -       -       -        -         -
|
|   between stages, by function               self  calls
|   (not recorded: Python without stacks)  68.0 us      -
|
|   CPU: how long its calls took. GPU: work launched inside it, whenever it ran.
|   GPU idle: while the CPU was in the stage. Span idle: between its first and last GPU work.
|
| next: strata gaps 64_bf16_warm_eager.json.gz    why the GPU was idle
|       strata syncs 64_bf16_warm_eager.json.gz   where the CPU waits, and what it costs

# CPU and GPU side of a pipeline, and the functions between its stages.
$ strata stages wan_before_compile.json.gz
|   stage                  calls      CPU  of step      GPU  of step  GPU idle  kernels  syncs
|   pipeline_call              1  2149 ms        -  2078 ms        -   33.2 ms    2,585     10
|     encode_prompt            1  0.13 ms        -        -        -         -        -      -
|     transformer_forward      4   916 ms   43.6 %  2078 ms    100 %   8.40 ms    2,548      -
|     scheduler_step           2  1133 ms   54.0 %  0.11 ms    0.0 %   6.26 ms       27      9
|   (between stages)           -   100 ms           0.04 ms            18.6 ms       10      1
|
|   time per call          CPU first   median      p95  GPU first   median      p95
|   pipeline_call            2149 ms  2149 ms  2149 ms    2078 ms  2078 ms  2078 ms
|     encode_prompt          0.13 ms  0.13 ms  0.13 ms          -        -        -
|     transformer_forward    79.0 ms   227 ms   415 ms     507 ms   520 ms   531 ms
|     scheduler_step          566 ms   567 ms   567 ms    0.04 ms  0.06 ms  0.07 ms
|
|   device and memory      GPU span  span idle  launches  copies  copied  allocs  mallocs  peak mem
|   pipeline_call           2111 ms    33.2 ms     3,802   1,217    68 B   2,353        -   4.11 GB
|     encode_prompt               -          -         -       -       -       -        -         -
|     transformer_forward   2089 ms    10.7 ms     3,752   1,204       -   2,304        -   4.11 GB
|     scheduler_step        3.21 ms    3.10 ms        39      12    52 B      38        -   3.23 GB
|
|   between stages, by function                         self   calls
|   torch/nn/modules/module.py(2882): named_modules  30.2 ms  42,322
|   torch/nn/modules/module.py(1955): __getattr__    15.2 ms  10,546
|   diffusers/hooks/hooks.py(268): _set_context      8.88 ms       8
|   <built-in function hasattr>                      8.30 ms  18,313
|   torch/nn/modules/module.py(2877): named_modules  8.18 ms  10,558
|
|   CPU: how long its calls took. GPU: work launched inside it, whenever it ran.
|   GPU idle: while the CPU was in the stage. Span idle: between its first and last GPU work.
|
| next: strata gaps wan_before_compile.json.gz    why the GPU was idle
|       strata syncs wan_before_compile.json.gz   where the CPU waits, and what it costs

# Compiled regions are no stages unless asked for.
$ strata stages wan_before_compile.json.gz --all --json | python3 -c 'import json, sys
> for s in json.load(sys.stdin)["stages"]: print(s["path"][:60], s["kind"], s["count"], s["kernels"])'
| pipeline_call user 1 2585
| pipeline_call/encode_prompt user 1 0
| pipeline_call/transformer_forward user 4 2548
| pipeline_call/transformer_forward/## Call CompiledFxGraph f7 compiled 120 2400
| pipeline_call/scheduler_step user 2 27

# No annotations, no stages.
$ printf '[{"ph":"X","cat":"cpu_op","name":"aten::add","ts":1,"dur":2,"pid":1,"tid":1,"args":{}}]' > bare.json
$ strata stages bare.json
| no stages: the trace has no labels. Label the parts of the pipeline:
|   with torch.profiler.record_function("transformer_forward"): ...
|
| next: strata kernels bare.json   where the GPU time goes, without labels
|       strata steps bare.json     the loop, found from kernels
