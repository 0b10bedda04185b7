# Screens depend on the length of the path, so the traces are looked at from here.
$ cp $DATA/matmul_add/64_bf16_warm_eager.json.gz $DATA/wan/wan_before_compile.json.gz .

# One stage, and what lies between its calls.
$ strata stages 64_bf16_warm_eager.json.gz
| shown: what can be judged, 278 us of the 499 us recorded
| left out: start-up 221 us (--whole includes it)
|
| matmul_add takes most: 5.54 us of GPU time (100 % of a step), 153 us of CPU time (81.9 %)
|
|   stage             calls      CPU  of step      GPU  of step  GPU idle  kernels  syncs
|   matmul_add            2   153 us   81.9 %  5.54 us    100 %    104 us        4      -
|   (between stages)      -  31.1 us        -        -        -   31.1 us        -      -
|
|   between stages, by function               self  calls
|   (not recorded: Python without stacks)  31.1 us      -
|
|   CPU: how long its calls took. GPU: work launched inside it, whenever it ran.
|   GPU idle: while the CPU was in the stage.
|
| next: strata stages 64_bf16_warm_eager.json.gz --wide   times of single calls, device and memory
|       strata gaps 64_bf16_warm_eager.json.gz            why the GPU was idle
|       strata syncs 64_bf16_warm_eager.json.gz           where the CPU waits, and what it costs

# CPU and GPU side of a pipeline, and the functions between its stages.
$ strata stages wan_before_compile.json.gz
| transformer_forward takes most: 2.08 s of GPU time (100 % of a step), 916 ms of CPU time (43.6 %)
|
|   stage                  calls      CPU  of step      GPU  of step  GPU idle  kernels  syncs
|   pipeline_call              1  2149 ms        -  2078 ms        -   33.2 ms    2,585     10
|     encode_prompt            1  0.13 ms        -        -        -         -        -      -
|     transformer_forward      4   916 ms   43.6 %  2078 ms    100 %   8.40 ms    2,548      -
|     scheduler_step           2  1133 ms   54.0 %  0.11 ms    0.0 %   6.26 ms       27      9
|   (between stages)           -   100 ms        -  0.04 ms        -   18.6 ms       10      1
|
|   between stages, by function                         self   calls
|   torch/nn/modules/module.py(2882): named_modules  30.2 ms  42,322
|   torch/nn/modules/module.py(1955): __getattr__    15.2 ms  10,546
|   diffusers/hooks/hooks.py(268): _set_context      8.88 ms       8
|   <built-in function hasattr>                      8.30 ms  18,313
|   torch/nn/modules/module.py(2877): named_modules  8.18 ms  10,558
|
|   CPU: how long its calls took. GPU: work launched inside it, whenever it ran.
|   GPU idle: while the CPU was in the stage.
|
| next: strata stages wan_before_compile.json.gz --wide   times of single calls, device and memory
|       strata gaps wan_before_compile.json.gz            why the GPU was idle
|       strata syncs wan_before_compile.json.gz           where the CPU waits, and what it costs

# Single calls, device and memory are behind an option.
$ strata stages wan_before_compile.json.gz --wide | sed -n "/time per call/,/^  between/p"
|   time per call          CPU first  CPU median  CPU p95  GPU first  GPU median  GPU p95
|   pipeline_call            2149 ms     2149 ms  2149 ms    2078 ms     2078 ms  2078 ms
|     encode_prompt          0.13 ms     0.13 ms  0.13 ms          -           -        -
|     transformer_forward    79.0 ms      227 ms   415 ms     507 ms      520 ms   531 ms
|     scheduler_step          566 ms      567 ms   567 ms    0.04 ms     0.06 ms  0.07 ms
|
|   device and memory      GPU span  span idle  launches  copies  copied  allocs  mallocs  peak memory
|   pipeline_call           2111 ms    33.2 ms     3,802      13    68 B   2,353        -      4.11 GB
|     encode_prompt               -          -         -       -       -       -        -            -
|     transformer_forward   2089 ms    10.7 ms     3,752       -       -   2,304        -      4.11 GB
|     scheduler_step        3.21 ms    3.10 ms        39      12    52 B      38        -      3.23 GB
|
|   between stages, by function                         self   calls

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
| no stages: the trace has no labels, and nothing in it repeats. Label the parts of
| the pipeline:
|   with torch.profiler.record_function("transformer_forward"): ...
|
| next: strata kernels bare.json   where the GPU time goes, without labels
|       strata steps bare.json     the loop, if there is one

# Without labels the parts of the program are derived: calls of modules and functions, or what repeats.
$ zcat wan_before_compile.json.gz | sed 's/"user_annotation"/"ignored"/' > unlabelled.json
$ strata stages unlabelled.json | head -14
| WanTransformerBlock takes most: 2.07 s of GPU time (99.7 % of a step), 879 ms of CPU time (41.7 %)
|
|   stage                          calls      CPU  of step      GPU  of step  GPU idle  kernels  syncs
|   w                                  1  0.23 ms        -        -        -         -        -      -
|   step                               2  2110 ms    100 %  2078 ms    100 %   32.1 ms    2,583      9
|     cache_context                    8  60.1 ms    2.8 %        -        -   16.9 ms        -      -
|     WanTransformer3DModel            4   916 ms   43.4 %  2078 ms    100 %   8.60 ms    2,548      -
|       WanTransformerBlock          120   879 ms   41.7 %  2071 ms   99.7 %   4.45 ms    2,400      -
|       FP32LayerNorm                  4  23.5 ms    1.1 %  2.05 ms    0.1 %   0.01 ms        8      -
|     w                                2  1133 ms   53.7 %  0.11 ms    0.0 %   6.27 ms       27      9
|       step                           2  1133 ms   53.7 %  0.11 ms    0.0 %   6.18 ms       27      9
|         index_for_timestep           1   565 ms   26.8 %  0.01 ms    0.0 %   2.02 ms        4      2
|         mult..._uni_c_bh_update      1   566 ms   26.8 %  0.04 ms    0.0 %   2.51 ms        9      3
|   (between stages)                   -  9.53 ms        -  0.01 ms        -   9.52 ms        2      1
$ zcat $DATA/whatif/pingpong_v0.json.gz | sed 's/"user_annotation"/"ignored"/' > v0.json
$ zcat $DATA/whatif/pingpong_v1.json.gz | sed 's/"user_annotation"/"ignored"/' > v1.json
$ strata stages v0.json | head -8
| layer takes most: 18.4 ms of GPU time (92.8 % of a step), 18.1 ms of CPU time (45.4 %)
|
|   stage             calls      CPU  of step      GPU  of step  GPU idle  kernels  syncs
|   step                 16  27.1 ms   67.7 %  19.9 ms    100 %   6.21 ms      464     16
|     layer             192  18.1 ms   45.4 %  18.4 ms   92.8 %   3.66 ms      384      -
|   (between stages)      -  12.9 ms        -        -        -   12.7 ms        -      -
|
|   derived, since no label covers them, from operators that repeat
$ strata stages v0.json --json | python3 -c 'import json, sys
> for s in json.load(sys.stdin)["stages"]: print(s["path"], s["kind"], s["derived"], s["from"], s["count"])'
| step derived True operator_sequence 16
| step/layer derived True operator_sequence 192
$ strata stages wan_before_compile.json.gz --json | python3 -c 'import json, sys
> for s in json.load(sys.stdin)["stages"]: print(s["path"], s["derived"], s["from"])'
| pipeline_call False annotations
| pipeline_call/encode_prompt False annotations
| pipeline_call/transformer_forward False annotations
| pipeline_call/scheduler_step False annotations

# They can be asked for by name like any other.
$ strata whatif v0.json --cuda-graph '^layer$' | grep matched
|   --cuda-graph ^layer$ (192 matched)
$ strata diff v0.json v1.json | grep -A2 '^  stage'
|   stage    CPU ms  after           GPU ms  after          kernels    syncs
|   step      27.05  19.82  -26.7 %   19.86  19.69  -0.8 %      464  16 -> 0
|     layer   18.12  14.30  -21.1 %   18.43  18.30  -0.7 %      384        -
$ printf 'stage step kernels <= 500\nstage layer cpu_ms <= 1\n' > budget; strata check v0.json --budget budget | head -6
|   limit                      measured  verdict
|   stage step kernels <= 500       464  ok
|   stage layer cpu_ms <= 1       18.12  FAIL
|
| 1 of 2 limits kept, 1 failed
|

# More stages than there is room for: the largest ones, in the order of the program, and how many are left out.
$ python3 -c '
> import json
> ev = [{"ph": "X", "cat": "user_annotation", "name": "stage%d" % i, "pid": 1, "tid": 1, "ts": 1000.0 * i,
>        "dur": 900.0 if i in (2, 11) else 20.0 + i} for i in range(12)]
> ev.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 2010.0, "dur": 500.0})
> json.dump({"traceEvents": ev}, open("many.json", "w"))'
$ strata report -v many.json | sed -n '/^  stage/,/left out/p'
|   stage             calls      CPU
|   stage2                1   900 us
|   stage5                1  25.0 us
|   stage6                1  26.0 us
|   stage7                1  27.0 us
|   stage8                1  28.0 us
|   stage9                1  29.0 us
|   stage10               1  30.0 us
|   stage11               1   900 us
|   (between stages)      -  9847 us
|   (4 smaller stages are left out; strata stages shows every stage)
$ strata stages many.json --limit 2 | head -6
| stage2 takes most: 900 us of CPU time
|
|   stage             calls      CPU  of step
|   stage2                1   900 us        -
|   stage11               1   900 us        -
|   (between stages)      -  9847 us        -
