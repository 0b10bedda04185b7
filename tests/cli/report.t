# The diagnosis of a small loop: verdict, findings by gain, checklist, where to go next.
$ ln -s $DATA/whatif/pingpong_v0.json.gz v0.json.gz
$ ln -s $DATA/whatif/pingpong_v1.json.gz v1.json.gz
$ strata report v0.json.gz
| v0.json.gz   NVIDIA H200, CUDA 13.0   16 steps   38.1 ms (41.0 ms with the profiler)
|
|   1.7x faster with 2 changes: 38.1 -> 22.7 ms (-40 %)
|
|   1  -31 %  a CPU-only stage stalls the GPU      cache_context                            some lines
|             Nothing is launched while this stage runs, and the GPU is idle.
|      fix    Move it out of the loop, make it cheaper, or run it while the GPU has queued work.
|      why    strata explain late_launch
|   2 -9.5 %  readback drains the queue            aten::item                               some lines
|             A value is copied to the CPU (DtoH), which waits for everything queued before the copy.
|      fix    Keep the value on the GPU (torch.where, masks, tensors as indices), or compute it on the
|             CPU before the loop; read results back once, after the loop.
|      why    strata explain sync_in_loop
|   3 -1.5 %  memory-bound kernels could be fused  aten::div                                one line
|
|   GPU busy 52.1 %, CPU waits once per step, eager, 29 kernels per step, trace good
| next: strata gaps v0.json.gz                        the evidence of finding 1
|       strata report v0.json.gz --html report.html   with a timeline
|       strata report v0.json.gz -v                   all details
$ strata report -v v0.json.gz
| v0.json.gz   NVIDIA H200, CUDA 13.0   16 steps   38.1 ms (41.0 ms with the profiler)
| trace quality: good (replay error 0.0 %; about 38.1 ms without the profiler, 41.0 ms with it)
|
|   1.7x faster with 2 changes: 38.1 -> 22.7 ms (-40 %)
|
|   stage                    calls      CPU      GPU  GPU idle  kernels  syncs
|   pipeline_call                1  41.0 ms  19.9 ms   18.9 ms      464     17
|     decode_step               16  40.6 ms  19.9 ms   18.6 ms      464     16
|       cache_context           16  11.7 ms        -   11.0 ms        -      -
|       transformer_forward     16  21.7 ms  18.4 ms   4.36 ms      384      -
|       sampler_step            16  6.00 ms  1.42 ms   2.58 ms       80     16
|   (between stages)             -  1.55 ms        -   0.97 ms        -      1
|
|   findings by gain: wall time saved without the profiler, if the findings above are fixed too
|   1  high   a CPU-only stage stalls the GPU   cache_context
|             late_launch: CPU 11.0 ms, exposed 11.0 ms, gain 11.8 ms = 31.0 %; effort: some lines
|             Nothing is launched while this stage runs, and the GPU is idle.
|             Move it out of the loop, make it cheaper, or run it while the GPU has queued work.
|   2  medium readback drains the queue   aten::item
|             sync_in_loop: blocked 463 us, exposed 761 us, gain 3.62 ms = 9.5 % (0 ... 17 %), alone
|             21.9 %; effort: some lines
|             A value is copied to the CPU (DtoH), which waits for everything queued before the copy.
|             The gain is larger than the wait itself: without it the CPU stays ahead of the GPU, and
|             what it launches next is no longer late.
|             Keep the value on the GPU (torch.where, masks, tensors as indices), or compute it on the
|             CPU before the loop; read results back once, after the loop.
|   3  low    memory-bound kernels could be fused   aten::div
|             unfused_chain: 870 us on the GPU, gain 574 us = 1.5 %, alone 0.1 %; effort: one line
|             48 kernels in 16 chains read and write the same tensors one after the other (870 us).
|             The largest chain has 3 kernels (mul, div, add) and takes 55.4 us; one kernel would take
|             about 21.4 us.
|             Use torch.compile on the module or function they are in, which fuses each chain into one
|             kernel, or use a fused operator (F.rms_norm, F.gelu, F.cross_entropy).
|
|   checklist
|     !!  the GPU is busy 52.1 % of the time; fixing finding 1 (a CPU-only stage stalls the GPU) gains
|         31.0 %
|     !!  1 sync per step: in total the CPU is blocked for 463 us and the GPU idle for 761 us (1.9 %);
|         fixing finding 2 (readback drains the queue) gains 9.5 %
|     !!  other or fewer kernels do the same work in less time; fixing finding 3 (memory-bound kernels
|         could be fused) gains 1.5 %
|     !!  eager: 29 kernels per step, no CUDA graphs; fixing finding 3 (memory-bound kernels could be
|         fused) gains 1.5 %
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     !!  launch latency is 13.0 us (idle stream); the GPU waits for launches: the CPU does not run
|         ahead
|
|   ladder, without the profiler                     wall   share
|   now                                           38.1 ms   100 %
|   after 1: a CPU-only stage stalls the GPU      26.3 ms  69.0 %
|   after 2: readback drains the queue            22.7 ms  59.5 %
|   after 3: memory-bound kernels could be fused  22.1 ms  58.0 %
|   the GPU alone                                 19.3 ms  50.6 %
|
| next: strata gaps v0.json.gz                        the evidence, step by step
|       strata stages v0.json.gz                      which stage waits, and which is busy
|       strata report v0.json.gz --html report.html   the same with a timeline

# Advice predicts no gain.
$ ln -s $DATA/matmul_add/4096_bf16_warm_eager.json.gz big.json.gz && strata report big.json.gz
| big.json.gz   NVIDIA H200, CUDA 13.0   3 steps   733 us (759 us with the profiler)
|
|   The GPU is busy 79.4 % of the time, and no fix was found that gains 2 %.
|   How fast its kernels could be is not known from this trace.
|
|   GPU time     share      speed  of best  could save  of wall
|   gemm          88 %          -
|   elementwise   12 %  4.50 TB/s    100 %           -
|
|   holds GPU time  kind         share     without it  where
|   aten::matmul    gemm          88 %  at most -72 %  -
|   aten::add       elementwise   12 %  at most -10 %  -
|
|   the GPU waits for
|    20.4 %  before the first and after the last GPU work
|     1.6 %  cuLaunchKernelEx (launch latency)
|     1.2 %  back-to-back (short gaps)
|
|   note: the first step includes warm-up (ProfilerStep#2): strata explain warm_up
|   GPU busy 79.4 %, CPU never waits, eager, 2 kernels per step, trace good
| next: strata report big.json.gz --html report.html   with a timeline
|       strata report big.json.gz -v                   all details

# Small enough to hand on; as many findings as asked for.
$ strata report v0.json.gz --md | wc -c | awk '{ print ($1 < 8192) }'
| 1
$ strata report -v v0.json.gz --limit 1 | grep -A1 '^  1 '
|   1  high   a CPU-only stage stalls the GPU   cache_context
|             late_launch: CPU 11.0 ms, exposed 11.0 ms, gain 11.8 ms = 31.0 %; effort: some lines

# Not a trace.
$ echo '<!DOCTYPE html>' > page.json && strata report page.json
! strata: page.json: not a trace: expected '{' or '[' at byte 0, found "<!DOCTYPE html>" (a saved web page?)
? 3
$ strata report v0.json.gz --wall 1 2>&1 >/dev/null
| strata: --wall 1.00 ms does not fit this trace: without the profiler it takes 33.5 ms at the least, which is what is shown
$ strata report v0.json.gz --wall 35 2>&1 >/dev/null
$ strata report v0.json.gz --set nonsense=1
! strata: unknown threshold 'nonsense'; strata report --help lists them
? 2

# A trace that lost its last records: no diagnosis, and nothing that would need them.
$ gzip -dc v0.json.gz | head -c 900000 > cut.json && strata report -v cut.json | sed -n '/No diagnosis/,/^next/p'
|   No diagnosis: device records are incomplete, so GPU idle time is unknown. To fix it: wait for the
|   export to finish; a file name ending in .tmp means it has not
|
|   stage                    calls      CPU      GPU  GPU idle  kernels  syncs
|   pipeline_call                1  41.0 ms  17.0 ms         ?      394     13
|     decode_step               16  40.6 ms  17.0 ms         ?      394     13
|       cache_context           16  11.7 ms        -         ?        -      -
|       transformer_forward     16  21.7 ms  15.8 ms         ?      329      -
|       sampler_step            16  6.00 ms  1.16 ms         ?       65     13
|   (between stages)             -  1.55 ms        -         ?        -      -
|
|   no findings: the records cannot be trusted
|
|   checklist
|     ?   device records are incomplete, so how busy the GPU was is unknown
|     ?   13 syncs in 16 steps: in total the CPU is blocked for 429 us; the cost is unknown because
|         device records are missing
|     ?   how fast the kernels could be is unknown: record with record_shapes=True
|     ok  eager: 25 kernels per step, no CUDA graphs
|     ?   memory was not recorded; record with profile_memory=True to see it over the steps
|     ?   device records are missing, so what launches wait for is unknown
|
| next: strata info cut.json --lint                 what is missing or damaged, and where
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost

# What kernels leave: named with its worth.
$ strata report $DATA/advice/gemm_fp32_stack.json.gz | sed -n 4,28p
|
|   1  -81 %  float32 without tensor cores  advice.py:44 in f                                 one line
|             18 matrix multiplications and convolutions in float32 run without tensor cores at 51
|             TFLOP/s, for 48.6 ms; in tf32 this GPU reaches 384 TFLOP/s.
|      fix    Allow TF32: torch.set_float32_matmul_precision("high"), and
|             torch.backends.cudnn.allow_tf32 = True for convolutions.
|             bf16  -87 %  some lines
|             TF32  -81 %  one line
|      try    strata try --fix tf32 -- python advice.py     why: strata explain float32_products
|
|   GPU busy 93.4 %, MFU 9.6 %, CPU never waits in the loop, eager, 6 kernels per step, trace good
| next: strata kernels $DATA/advice/gemm_fp32_stack.json.gz --roof
|       strata report $DATA/advice/gemm_fp32_stack.json.gz --html report.html
|       strata report $DATA/advice/gemm_fp32_stack.json.gz -v
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
| cpu.json   4 steps   39.0 ms
|
|   The loop waits for data. 1.3x faster with one change: 39.0 -> 30.0 ms (-23 %)
|   Largest part: train.py:5 main, 11.6 ms in 4 calls (29.7 %).
|
|   1  -23 %  batches are loaded between the steps  train.py:5 in main                        one line
|             The DataLoader has no workers (num_workers=0): the thread that computes loads every
|             batch itself, and computes nothing meanwhile.
|      fix    Set num_workers (4 to begin with, fewer where the machine has fewer cores) and
|             persistent_workers=True: workers load the next batches while the program computes.
|      try    strata try --fix loader:4 -- python SCRIPT     why: strata explain data_loader
|
|   no GPU work, trace good
| next: strata gaps cpu.json                        the evidence of finding 1
|       strata report cpu.json --html report.html   with a timeline
|       strata report cpu.json -v                   all details
$ { strata report cpu.json; strata report cpu.json --md; strata stages cpu.json; } | grep -c 'GPU idle'
| 0
? 1

# A function around the launches that begins before and ends long after all that was recorded: launches are
# counted per wall time, so no four of them come "every 104 us" within 203 us.
$ cat > outlasts.py <<'EOF'
> import json
> host = {"ph": "X", "pid": 9, "tid": 9}
> events = [dict(host, ts=0, dur=0), dict(host, cat="python_function", name="transformers/models/bert/modeling_bert.py(505): forward", ts=1, dur=416),
>           dict(host, cat="python_function", name="nn.Module: Linear_1", ts=96, dur=42),
>           dict(host, cat="python_function", name="nn.Module: Linear_2", ts=154, dur=36)]
> for n, (at, dur) in enumerate([(50, 6), (128, 6), (181, 6), (237, 9)]):
>     args = {"correlation": n + 1, "device": 0, "stream": 7}
>     events += [dict(host, cat="cuda_driver", name="cuLaunchKernel", ts=at, dur=5, args={"correlation": n + 1}),
>                {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "k", "ts": at + 7, "dur": dur, "args": args}]
> json.dump({"traceEvents": events}, open("outlasts.json", "w"))
> EOF
$ python3 outlasts.py && strata report outlasts.json | sed -n '1p;/launches per step, about one/,/average/p'
| outlasts.json   1 step   188 us (203 us with the profiler)
|             The loop makes 4 launches per step, about one every 46.9 us, but the work they start
|             takes only 6.75 us on average: the GPU mostly waits for the next launch.

# A narrow terminal: no sentence is cut while a line is free, and no report has more than 25.
$ cd $DATA && for t in torch/*.gz flux2/*.gz wan/*.gz advice/*.gz; do COLUMNS=80 strata report $t 2>/dev/null | awk -v t=$t '/ \.\.\.$/ {cut = 1} END {if (NR > 25 || (cut && NR < 25)) print t, NR}'; done
