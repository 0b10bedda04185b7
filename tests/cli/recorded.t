# What was recorded: a GPU that is there and has no work.
$ cat > unused.json <<'END'
> {"deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-16GB", "computeMajor": 7, "computeMinor": 0, "numSms": 80}],
>  "traceEvents": [
>  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 0, "dur": 900, "args": {}},
>  {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 900, "dur": 100, "args": {}}]}
> END
> strata report unused.json | sed -n 4,6p
|   The GPU (Tesla V100-SXM2-16GB) has no work: move the model and its inputs to it (.to("cuda")).
|
|   hot operators  calls  itself  of wall

# Nothing takes long, and what takes most waits for copies: the GPU was not recorded.
$ cat > cpuonly.json <<'END'
> {"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
>  "traceEvents": [
>  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 1, "tid": 1, "ts": 0, "dur": 20, "args": {}},
>  {"ph": "X", "cat": "cpu_op", "name": "aten::_local_scalar_dense", "pid": 1, "tid": 1, "ts": 900, "dur": 500, "args": {}}]}
> END
> strata report cpuonly.json | sed -n 4,5p
|   No work of the GPU (NVIDIA A100-SXM4-80GB) was recorded: record it (ProfilerActivity.CUDA), or, if
|   there is none, move the model and its inputs to it.

# A trace that is none of a program, and none of torch's: no advice on torch's profiler.
$ cat > browser.json <<'END'
> {"traceEvents": [
>  {"ph": "X", "cat": "devtools.timeline", "name": "RunTask", "pid": 1, "tid": 1, "ts": 1000, "dur": 500, "args": {}},
>  {"ph": "X", "cat": "devtools.timeline", "name": "RunTask", "pid": 1, "tid": 1, "ts": 2000, "dur": 5000, "args": {}}]}
> END
> strata report browser.json | sed -n 2,8p
|   !  nothing of the program was recorded (2 events in total): there is nothing to analyze
|
|   No diagnosis: nothing of the program was recorded
|   To fix it: record the program's operators and its GPU: with strata run, torch.profiler,
|   jax.profiler, nsys profile --trace=cuda,nvtx or rocprofv3 --sys-trace
|
|   GPU idle time unknown, trace unusable

# A cold first step is left out, and all other figures are about the rest.
$ ln -s $DATA/matmul_add/64_bf16_cold_eager.json.gz cold.json.gz && strata report cold.json.gz | sed -n 2,10p
| left out of the 665 us recorded: start-up 329 us (--whole includes it)
|
|   The GPU is busy only 4.0 % of the time, and no fix was found that gains 2 %.
|   Why: a step has only 2 launches, too few for a graph or for fusion; the CPU spends the time around
|   them.
|
|   the GPU waits for
|    38.1 %  before the first and after the last GPU work
|    10.9 %  matmul_add (label)

# --whole judges everything.
$ strata report cold.json.gz --whole | sed -n 2,4p
|
|   The GPU is busy only 2.0 % of the time, and no fix was found that gains 2 %.
|   Why: a step has only 2 launches, too few for a graph or for fusion; the CPU spends the time around

# JAX launches and reads back on threads of its own: what they take to hand over is no lost record, and
# all calls of the compiled step are one stage.
$ ln -s $DATA/capture/h200_jax_train.json.gz jax.json.gz && strata report jax.json.gz | sed -n '2,12p;/trace good/p'
| shown: 45 steps, 54.4 ms of the 57.8 ms recorded (--whole shows all)
|
|   2.1x faster with one change: 52.8 -> 25.1 ms (-53 %)
|
|   1  -53 %  the loop waits for the GPU to read a value  train/jaxtrain.py:16 in <module>  some lines
|             Nothing is launched until the GPU is done and another thread has copied a value to the
|             CPU, 41 times; then the GPU is idle until the next launch.
|      fix    Do not look at values in every step (float(), print, np.asarray, block_until_ready):
|             keep them on the GPU, and read them every N steps or one step late.
|      why    strata explain thread_readback
|   2 -1.8 %  explicit synchronize drains the queue       train/jaxtrain.py:13 in <module>  one line
|   GPU busy 43.6 %, CPU waits 42 times, CUDA graphs, 31 kernels per step, trace good
$ strata report -v jax.json.gz | sed -n '/^  stage/,/between/p'
|   stage             calls      CPU      GPU  GPU idle  kernels  syncs
|   step                 45  49.9 ms  24.4 ms   27.1 ms    1,395     42
|     jit_step           45  15.1 ms  24.4 ms   12.4 ms    1,395      -
|   (between stages)      -  4.50 ms        -   4.19 ms        -      -
