# The diagnosis of a small loop: verdict, findings by gain, checklist, where to go next.
$ ln -s $DATA/whatif/pingpong_v0.json.gz v0.json.gz
$ ln -s $DATA/whatif/pingpong_v1.json.gz v1.json.gz
$ strata report v0.json.gz
| v0.json.gz  CUDA 13.0  NVIDIA H200  16 steps  3,833 events
| trace quality: good (replay error 0.0 %; about 38.1 ms without the profiler, 41.0 ms with it)
|
|   41.0 ms wall, CPU-bound: the GPU is busy 48.5 % of the time. It waits for Python and other CPU
|   work
|
|   stage                    calls      CPU      GPU  GPU idle  kernels  syncs
|   pipeline_call                1  41.0 ms  19.9 ms   18.9 ms      464     17
|     decode_step               16  40.6 ms  19.9 ms   18.6 ms      464     16
|       cache_context           16  11.7 ms        -   11.0 ms        -      -
|       transformer_forward     16  21.7 ms  18.4 ms   4.36 ms      384      -
|       sampler_step            16  6.00 ms  1.42 ms   2.58 ms       80     16
|   (between stages)                1.55 ms        -   0.97 ms        -      1
|
|   findings by gain: wall time saved without the profiler, if the findings above are fixed too
|   1  high   a stage that launches nothing stalls the GPU   cache_context
|             blocked 11.0 ms, exposed 11.0 ms, gain 11.8 ms = 31.0 %; effort: local
|             Nothing is launched while this stage runs, and the GPU is idle.
|             Move it out of the loop, make it cheaper, or run it while the GPU has queued work.
|   2  medium readback drains the queue   aten::item
|             blocked 463 us, exposed 761 us, gain 3.62 ms = 9.5 % (0 ... 17 %), alone 21.9 %; effort:
|             local
|             A value is copied to the CPU (DtoH), which waits for everything queued before the copy.
|             Keep the value on the GPU (torch.where, masks, tensors as indices), or compute it on the
|             CPU before the loop; read results back once, after the loop.
|   3  low    memory-bound kernels could be fused   aten::div
|             870 us on the GPU, gain 574 us = 1.5 %, alone 0.1 %; effort: one line
|             48 kernels in 16 runs read and write the same tensors one after the other (870 us). The
|             largest run has 3 kernels (mul, div, add) and takes 55.4 us; one kernel would take about
|             21.4 us.
|             Use torch.compile on the module or function they are in, which fuses each run into one
|             kernel, or use a fused operator (F.rms_norm, F.gelu, F.cross_entropy).
|
|   checklist
|     !!  the GPU is busy only 48.5 % of the time; largest part of its idle time: cache_context
|         (label), 11.0 ms
|     !!  1 sync per step: in total the CPU is blocked for 463 us and the GPU idle for 761 us (1.9 %)
|     ?   no stage is named scheduler; annotate the pipeline's stages to see their shares
|     ok  eager: 29 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     ok  launch latency is 13.7 us (idle stream); queue depth at most 6: the CPU barely keeps up
|
|   ladder, without the profiler                              wall  of today
|   as it is                                               38.1 ms     100 %
|   after 1: a stage that launches nothing stalls the GPU  26.3 ms    69.0 %
|   after 2: readback drains the queue                     22.7 ms    59.5 %
|   after 3: memory-bound kernels could be fused           22.1 ms    58.0 %
|   the GPU alone                                          19.3 ms    50.6 %
|
| next: strata gaps v0.json.gz                        the evidence, step by step
|       strata stages v0.json.gz                      which stage waits, and which is busy
|       strata report v0.json.gz --html report.html   the same with a timeline

# Advice promises no gain.
$ ln -s $DATA/matmul_add/4096_bf16_warm_eager.json.gz big.json.gz && strata report big.json.gz
| big.json.gz  CUDA 13.0  NVIDIA H200  3 steps  59 events
| trace quality: good (replay error 0.0 %; about 733 us without the profiler, 759 us with it)
|
|   759 us wall, GPU-bound: from its first to its last work the GPU is busy 96.5 % of the time; 20.4 %
|   of the wall time lies before and after. Make the kernels faster; a faster CPU side gains at most
|   23.2 %
|
|   stage             calls      CPU     GPU  GPU idle  kernels  syncs
|   matmul_add            3   338 us  582 us   14.7 us        6      -
|   (between stages)         65.6 us       -   2.08 us        -      -
|
|   what fills the GPU's time (the work of 12 % of it is known; record with record_shapes=True for
|   more)
|   kernel                                  launched by  of GPU time    reaches  of its roof  headroom
|   nvjet_sm90_tst...x4_1x2_h_bz_coopA_NNT  aten::mm          88.1 %          -      unknown         -
|   vectorized_ele...rnel<CUDAFunctor_add>  aten::add         11.5 %  4.50 TB/s        100 %         0
|
|   findings by gain: wall time saved without the profiler, if the findings above are fixed too
|   1  low    the first step includes warm-up   ProfilerStep#2
|             blocked 143 us, exposed 0
|             It takes 232 us, the others 89.0 us: it includes one-time work such as lazy loading,
|             autotuning or allocator growth.
|             Run a few steps before recording, or record with schedule(wait=1, warmup=2, active=3).
|
|   The GPU is idle for 23.2 % of the wall time. It waits for
|       20.4 %  before the first and after the last GPU work
|        1.6 %  cuLaunchKernelEx (launch latency)
|        1.2 %  back-to-back (short gaps)
|
|   checklist
|     !!  the GPU is busy only 76.8 % of the time; largest part of its idle time: 155 us before the
|         first and after the last GPU work
|     ok  the CPU never waits for the GPU inside the loop
|     ?   no stage is named scheduler; annotate the pipeline's stages to see their shares
|     ok  eager: 2 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     ok  launch latency is 15.4 us (idle stream); queue depth at most 4: the CPU barely keeps up
|
|   ladder, without the profiler    wall  of today
|   as it is                      733 us     100 %
|   the GPU alone                 582 us    79.4 %
|
| next: strata steps big.json.gz                       the evidence, step by step
|       strata gaps big.json.gz                        when the GPU was idle, and why
|       strata report big.json.gz --html report.html   the same with a timeline

# Small enough to hand on; as many findings as asked for.
$ strata report v0.json.gz --md | wc -c | awk '{ print ($1 < 8192) }'
| 1
$ strata report v0.json.gz --top 1 | grep -A1 '^  1'
|   1  high   a stage that launches nothing stalls the GPU   cache_context
|             blocked 11.0 ms, exposed 11.0 ms, gain 11.8 ms = 31.0 %; effort: local

$ strata checklist v0.json.gz
|     !!  the GPU is busy only 48.5 % of the time; largest part of its idle time: cache_context
|         (label), 11.0 ms
|     !!  1 sync per step: in total the CPU is blocked for 463 us and the GPU idle for 761 us (1.9 %)
|     ?   no stage is named scheduler; annotate the pipeline's stages to see their shares
|     ok  eager: 29 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     ok  launch latency is 13.7 us (idle stream); queue depth at most 6: the CPU barely keeps up

# The profiler hides what the .item() costs; a wall clock measured without it fits its cost.
$ strata whatif v0.json.gz --drop-sync 1 --wall 36.35
|   replay 40.961 -> 40.961 ms, error 0.00 %; profiler fitted: 12.3 us/launch, 4.1 us/op, CPU x0.91
|   --drop-sync 1 (16 matched)
|     as traced          40.961 ->   39.928 ms    -2.5 %  the profiler changes the critical path
|     without profiler   36.351 ->   26.644 ms   -26.7 %  range -17.5 ... -34.7 %  <- believe this one
$ strata whatif v0.json.gz --drop-cpu cache_context --drop-sync 1
|   replay 40.961 -> 40.961 ms, error 0.00 %; profiler estimated: 11.2 us/launch, 3.7 us/op
|   --drop-cpu cache_context (16 matched)
|   --drop-sync 1 (16 matched)
|     as traced          40.961 ->   26.768 ms   -34.7 %  the profiler changes the critical path
|     without profiler   38.142 ->   21.991 ms   -42.3 %  range -41.6 ... -43.4 %  <- believe this one
|
| next: --wall MS (the wall time without a profiler) replaces the estimated cost with a fitted one
$ strata whatif v0.json.gz
|   replay 40.961 -> 40.961 ms, error 0.00 %; profiler estimated: 11.2 us/launch, 3.7 us/op
|   without the profiler about 38.1 ms
|
| next: strata whatif TRACE --drop-sync SITE | --drop-cpu REGEX | --cuda-graph STAGE | ...

# Edits that cannot be understood, and edits that match nothing.
$ strata whatif v0.json.gz --drop-sync 99
! strata: --drop-sync takes a site from 1 to 2 (strata syncs lists them), not '99'
? 2
$ strata whatif v0.json.gz --drop-cpu no_such
! strata: --drop-cpu no_such matches nothing in the trace; strata stages and strata kernels list names
? 2
$ strata whatif v0.json.gz --drop-cpu '('
! strata: '(' is not a regular expression: Unmatched ( or \(
? 2
$ strata whatif v0.json.gz --scale-kernel gemm
! strata: --scale-kernel takes REGEX=FACTOR with a factor from 0 to 1000, not 'gemm'
? 2
$ strata whatif v0.json.gz --wall none
! strata: --wall takes a number from 0.001 to 1e+09, not 'none'
? 2
$ strata whatif v0.json.gz --pin-copies abc
! strata: --pin-copies takes GB/s from 0 to 10000, not 'abc'
? 2
$ strata whatif v0.json.gz --pin-copies 25GB
! strata: --pin-copies takes GB/s from 0 to 10000, not '25GB'
? 2
$ strata whatif v0.json.gz --pin-copies -1
! strata: --pin-copies takes GB/s from 0 to 10000, not '-1'
? 2

# What the fix changed: the parts add up to the change of the wall clock.
$ strata diff v0.json.gz v1.json.gz
|   wall 40.96 -> 33.26 ms  (-7.70 ms, -18.8 %)
|   too few traces to rule out noise: give three or more per side for a verdict
|        -1.99  idle, label: cache_context  10.98 -> 8.99 ms
|        -1.26  idle, operator: aten::addmm  1.90 -> 0.643 ms
|        -0.57  idle, launch latency: cudaLaunchKernel  0.632 -> 0.065 ms
|        -0.56  idle, label: decode_step  0.721 -> 0.162 ms
|        -0.47  idle, launch latency: cuLaunchKernelEx  0.678 -> 0.212 ms
|        -0.45  idle, label: sampler_step  0.467 -> 0.013 ms
|        -0.31  idle, label: transformer_forward  0.623 -> 0.316 ms
|        -0.29  idle, operator: aten::mul  0.313 -> 0.022 ms
|        -1.81  everything else
|
|   stage                    CPU ms  after           GPU ms  after             kernels    syncs
|   pipeline_call             40.96  33.26  -18.8 %   19.86  19.69  -0.8 %  464 -> 464  17 -> 1
|     decode_step             40.55  32.87  -18.9 %   19.86  19.69  -0.8 %  464 -> 464  16 -> 0
|       cache_context         11.70  12.10   +3.4 %   0.000  0.000  +0.0 %      0 -> 0   0 -> 0
|       transformer_forward   21.71  16.88  -22.3 %   18.43  18.30  -0.7 %  384 -> 384   0 -> 0
|       sampler_step           6.00   3.27  -45.5 %    1.42   1.39  -2.1 %    80 -> 80  16 -> 0
|
|   kernels per step 29 -> 29   same kernels; no change in fusion or CUDA graphs
|   sync gone: cudaStreamSynchr...ten::item in sampler_step  (16 x, blocked 463 us, exposed 761 us)
|   syncs in the loop 16 -> 0   proved: no blocking call inside the steps of the second trace
|
| next: strata report v1.json.gz   what is left to gain
|       strata gaps v1.json.gz     when the GPU was idle, and why
$ strata diff v0.json.gz v1.json.gz --json | python3 -c 'import json, sys
> d = json.load(sys.stdin)
> parts = sum(p["change_us"] for p in d["parts"])
> print(abs(parts - (d["wall"]["after_us"] - d["wall"]["before_us"])) < 0.01)'
| True
$ strata diff v0.json.gz
! strata: diff needs BEFORE AFTER | BEFORE ... vs AFTER ...; strata diff --help has an example
? 2
$ strata diff v0.json.gz vs
! strata: there is nothing on one side of 'vs'
? 2
$ strata diff v0.json.gz v0.json.gz v0.json.gz vs v1.json.gz v1.json.gz v1.json.gz | sed -n 2p
|   means of 3 and 3 runs: -18.8 %, 99 % interval -18.8 ... -18.8 %: real

# A budget for CI: kept, broken, and written wrongly.
$ printf '# the loop\nkernels_per_step <= 30\nstage cache_context cpu_ms <= 100\n' > kept.txt
$ strata check v0.json.gz --budget kept.txt
|   limit                              measured  verdict
|   kernels_per_step <= 30                   29  ok
|   stage cache_context cpu_ms <= 100      11.7  ok
|
| 2 of 2 limits kept
$ printf 'syncs_per_step <= 0\ngpu_idle_pct <= 10\n' > broken.txt
$ strata check v0.json.gz --budget broken.txt
|   limit                measured  verdict
|   syncs_per_step <= 0         1  over
|   gpu_idle_pct <= 10      51.52  over
|
| 0 of 2 limits kept, 2 over
|
| next: strata report v0.json.gz   why, and what to do about it
? 1
$ strata check v1.json.gz --budget broken.txt
|   limit                measured  verdict
|   syncs_per_step <= 0         0  ok
|   gpu_idle_pct <= 10      40.79  over
|
| 1 of 2 limits kept, 1 over
|
| next: strata report v1.json.gz   why, and what to do about it
? 1
$ printf 'sinks_per_step <= 0\n' > wrong.txt && strata check v0.json.gz --budget wrong.txt
! strata: wrong.txt: line 1: unknown metric 'sinks_per_step'. Did you mean 'syncs_per_step'?
? 2
$ printf 'syncs_per_step < 0\n' > wrong.txt && strata check v0.json.gz --budget wrong.txt
! strata: wrong.txt: line 1: expected 'METRIC <= NUMBER', found 'syncs_per_step < 0'
? 2
$ strata check v0.json.gz
! strata: check needs --budget FILE; see strata check --help
? 2
$ strata check v0.json.gz --budget none.txt
! strata: none.txt: cannot open: No such file or directory
? 3

# A gate does not pass what cannot be trusted: empty and cut traces keep no limit, and say why.
$ echo '{"traceEvents": []}' > empty.json; strata check empty.json --budget kept.txt
| trace quality: unusable
|   unusable: nothing of the program was recorded (0 events in total)
|     there is nothing to analyze
|     call prof.step() at the end of every iteration, and run enough of them for the schedule to
|     become active
|
|   limit                              measured  verdict
|   kernels_per_step <= 30                    -  unknown
|   stage cache_context cpu_ms <= 100         -  unknown
|
| no limit was checked, because the trace cannot be trusted; --allow-untrusted checks them anyway
|
| next: strata lint empty.json   what is missing or damaged, and where
? 3
$ gzip -dc v0.json.gz | head -c 900000 > cut.json; strata check cut.json --budget kept.txt
| trace quality: doubtful (CPU side about 10 % slower)
|   doubtful: the file is cut short at byte 899,412
|     device records come last in these files, so they are lost first
|     wait for the export to finish; a file name ending in .tmp means it has not
|   usable: 2 of 16 steps have no device records, the last ones
|     the device ran them after the window had closed; leave them out
|     call torch.cuda.synchronize() before the profiler stops
|
|   limit                              measured  verdict
|   kernels_per_step <= 30                    -  unknown
|   stage cache_context cpu_ms <= 100         -  unknown
|
| no limit was checked, because the trace cannot be trusted; --allow-untrusted checks them anyway
|
| next: strata lint cut.json   what is missing or damaged, and where
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
? 3
$ strata check cut.json --budget kept.txt --allow-untrusted
| trace quality: doubtful (CPU side about 10 % slower)
|   doubtful: the file is cut short at byte 899,412
|     device records come last in these files, so they are lost first
|     wait for the export to finish; a file name ending in .tmp means it has not
|   usable: 2 of 16 steps have no device records, the last ones
|     the device ran them after the window had closed; leave them out
|     call torch.cuda.synchronize() before the profiler stops
|
|   limit                              measured  verdict
|   kernels_per_step <= 30                24.62  ok
|   stage cache_context cpu_ms <= 100      11.7  ok
|
| 2 of 2 limits kept
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
$ strata check cut.json --budget kept.txt --json | head -4
| {
|   "ok": false,
|   "trusted": false,
|   "over": 0,
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
$ printf 'stage decode_step kernels <= 400\nstage  "decode_step"  cpu_ms <= 50\n' > spaced.txt; strata check v0.json.gz --budget spaced.txt
|   limit                               measured  verdict
|   stage decode_step kernels <= 400         464  over
|   stage  "decode_step"  cpu_ms <= 50     40.55  ok
|
| 1 of 2 limits kept, 1 over
|
| next: strata report v0.json.gz   why, and what to do about it
? 1

# A trace that is cut or empty is not compared: what it lacks would be taken for a change.
$ strata diff v0.json.gz cut.json
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
! strata: cut.json: cannot be compared, its quality is doubtful: the file is cut short at byte 899,412; --allow-untrusted compares it anyway
? 3
$ strata diff empty.json v0.json.gz
! strata: empty.json: cannot be compared, its quality is unusable: nothing of the program was recorded (0 events in total); --allow-untrusted compares it anyway
? 3
$ strata diff v0.json.gz cut.json --allow-untrusted 2>&1 | sed -n 2p
|   wall 40.96 -> 40.96 ms  (+0.00 ms, +0.0 %)

# Not a trace.
$ echo '<!DOCTYPE html>' > page.json && strata report page.json
! strata: page.json: not a trace: expected '{' or '[' at byte 0, found "<!DOCTYPE html>" (a saved web page?)
? 3
$ strata report v0.json.gz --set nonsense=1
! strata: unknown threshold 'nonsense'
? 2

# A trace that lost its last records: no diagnosis, and nothing that would need them.
$ gzip -dc v0.json.gz | head -c 900000 > cut.json && strata report cut.json | sed -n '/wall,/,/^next/p'
|   41.0 ms wall, no diagnosis: device records are incomplete, so GPU idle time is unknown
|
|   stage                    calls      CPU      GPU  GPU idle  kernels  syncs
|   pipeline_call                1  41.0 ms  17.0 ms         ?      394     13
|     decode_step               16  40.6 ms  17.0 ms         ?      394     13
|       cache_context           16  11.7 ms        -         ?        -      -
|       transformer_forward     16  21.7 ms  15.8 ms         ?      329      -
|       sampler_step            16  6.00 ms  1.16 ms         ?       65     13
|   (between stages)                1.55 ms        -         ?        -      -
|
|   no findings: the records cannot be trusted
|
|   checklist
|     ?   device records are incomplete, so how busy the GPU was is unknown
|     ?   0.812 syncs per step: in total the CPU is blocked for 429 us; the cost is unknown because
|         device records are missing
|     ?   no stage is named scheduler; annotate the pipeline's stages to see their shares
|     ok  eager: 24 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     ok  launch latency is 13.5 us (idle stream); queue depth at most 6: the CPU barely keeps up
|
| next: strata lint cut.json                        what is missing or damaged, and where
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost

# What kernels leave: named with its worth.
$ strata report $DATA/advice/gemm_fp32_stack.json.gz | sed -n 4,28p
|   52.2 ms wall, GPU-bound: the GPU is busy 93.3 % of the time. Make the kernels faster; a faster CPU
|   side gains at most 6.7 %
|
|   stage             calls      CPU      GPU  GPU idle  kernels  syncs
|   f                     3  4.50 ms  48.6 ms         -       18      -
|   (between stages)         0.01 ms        -         -        -      -
|   (derived: no label covers them; strata stages lists all of them)
|
|   what fills the GPU's time: its kernels run at 99 % of what this GPU reaches for such work
|   kernel                            launched by  of GPU time     reaches  of its roof       headroom
|   sm80_xmma_g..._kernel__5x_cublas  aten::mm         100.0 %  51 TFLOP/s         99 %  319 us, 0.6 %
|
|   findings by gain: wall time saved without the profiler, if the findings above are fixed too
|   1  high   float32 matrix multiplications without tensor cores   f
|             advice.py:44
|             48.6 ms on the GPU, gain 42.2 ms = 80.9 %; effort: one line
|             18 matrix multiplications and convolutions in float32 run without tensor cores at 51
|             TFLOP/s, for 48.6 ms; in tf32 this GPU reaches 384 TFLOP/s.
|             Allow TF32: torch.set_float32_matmul_precision("high") (and
|             torch.backends.cudnn.allow_tf32 = True), one line. bf16 (autocast or bf16 weights) is
|             about twice as fast again and halves the memory traffic.
|             TF32             80.9 %  one line  one flag; 10 bits of the mantissa are left
|             bf16             87.1 %  local     weights and inputs, or autocast; 7 bits are left, the
|                                                range stays
|
$ strata report $DATA/advice/attention_math_stack.json.gz --json | grep -E '"(rule|at_roof|device_us|predicted_gain_pct)"'
|     "at_roof": false,
|       "rule": "unfused_attention",
|       "device_us": 152221.296,
|       "predicted_gain_pct": 92.809,

# A program without a GPU: what it spends its time in, and not a word about a GPU.
$ python3 -c '
> import json
> ev, at = [], 0
> def add(cat, name, ts, dur): ev.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {}})
> for i in range(4):
>     at = i * 10000.0
>     add("user_annotation", "train_step", at, 9000.0)
>     add("python_function", "train.py(5): main", at + 5, 8900.0)
>     add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 10, 3000.0)
>     add("python_function", "data.py(9): decode", at + 20, 2500.0)
>     add("cpu_op", "aten::linear", at + 4000, 3000.0)
>     add("cpu_op", "aten::addmm", at + 4100, 2800.0)
> json.dump({"traceEvents": ev}, open("cpu.json", "w"))'
$ strata report cpu.json
| cpu.json  4 steps  24 events
| trace quality: good (replay error 0.0 %; about 39.0 ms without the profiler, 39.0 ms with it)
|
|   39.0 ms wall, all of it on the CPU
|
|   stage                                                          calls      CPU
|   train_step                                                         4  36.0 ms
|     enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__      4  12.0 ms
|   (between stages)                                                      3.00 ms
|
|   hot operators  calls   itself  of wall
|   aten::addmm        4  11.2 ms   28.7 %
|   aten::linear       4  0.80 ms    2.1 %
|
|   hot Python functions  calls   itself  of wall
|   train.py:5 main           4  11.6 ms   29.7 %
|   data.py:9 decode          4  10.0 ms   25.6 %
|
|   the DataLoader takes 30.8 % of the wall clock (12.0 ms, 4 batches); num_workers loads them meanwhile
|
|   no findings
|
| next: strata table cpu.json                       time per operator
|       strata report cpu.json --html report.html   the same with a timeline
$ { strata report cpu.json; strata report cpu.json --md; strata stages cpu.json; } | grep -c GPU
| 0
? 1
