# Two ranks of one run, as if they were two runs.
$ strata diff $DATA/run_ranks/timing_rank0.json $DATA/run_ranks/timing_rank2.json
| wall 450 ms -> 452 ms  (+0.4 %)   1 run before, 1 after: too few for a verdict
|
|   stage         calls  calls   median   median    change  peak mem  peak mem
|   step             10     10  41.5 ms  41.6 ms    +0.2 %   2.10 GB   2.10 GB
|     compute        10     10  10.0 ms  40.2 ms  +302.0 %   2.10 GB   2.10 GB
|     all_reduce     10     10  31.0 ms  0.90 ms   -97.1 %   2.10 GB   2.10 GB
|   save              1      1  3.50 ms  3.50 ms    +0.0 %   2.10 GB   2.10 GB
|
|   Columns in pairs: before, after. Two runs of the same program differ, too: for a verdict give
|   three or more per side, strata diff A1 A2 A3 vs B1 B2 B3.
|
| next: strata diff BEFORE AFTER   two traces: which kernels, gaps and syncs changed

$ strata diff $DATA/run_ranks/timing_rank0.json $DATA/run_ranks/timing_rank0.json --json | head -24
| {
|   "wall": {
|     "before_us": 450000.000,
|     "after_us": 450000.000,
|     "change_pct": 0.00,
|     "low_pct": null,
|     "high_pct": null
|   },
|   "runs_before": 1,
|   "runs_after": 1,
|   "busy_machine": false,
|   "stages": [
|     {
|       "name": "step",
|       "path": "step",
|       "before": {
|         "runs": 1,
|         "count": 10,
|         "total_us": 415000.000,
|         "median_us": 41500.000,
|         "gpu_us": null,
|         "peak_bytes": 2100000000
|       },
|       "after": {

# What is not a timing file, or no JSON at all.
$ strata diff $DATA/tiny.json $DATA/run_ranks/timing_rank0.json
! strata: $DATA/tiny.json: is a trace, not a timing.json; give traces on both sides, or timing.json
? 3
$ echo '{"stages": {' > cut.json && strata diff --stages cut.json cut.json
! strata: cut.json: byte 13: expected a key in quotes
? 3
$ mkdir empty && strata diff --stages empty empty
! strata: empty: the folder has no timing.json and no recording of stages
? 3
$ strata diff $DATA/run_ranks/timing_rank0.json
! strata: diff needs BEFORE AFTER | BEFORE ... vs AFTER ...; strata diff --help has an example
? 2

# Several runs per side: a verdict, and the change that is shown is the one that is judged.
$ python3 -c '
> import json, os
> def run(name, *ms):
>     os.makedirs(name)
>     stages = {"s%d" % i: {"name": "s%d" % i, "count": 20, "duration_ms": 20 * t, "median_ms": t, "std_ms": 9 * t}
>               for i, t in enumerate(ms)}
>     json.dump({"schema": 1, "pipeline": "p", "wall_clock_ms": 20 * sum(ms), "stages": stages},
>               open(name + "/timing.json", "w"))
> for i, f in enumerate((1.0, 1.01, 0.99)):
>     run("a%d" % i, 10 * f, 5 * f)
>     run("b%d" % i, 8 * f, 5.01 * f)
>     run("many/r%d" % i, 8 * f, 5.01 * f)
> run("c", 15, 7)'
$ strata diff a0 a1 a2 vs b0 b1 b2
| wall 300 ms -> 260 ms  (-13.3 %)   3 and 3 runs, stages: 1 faster, 0 slower
|
|   stage  calls  calls    median   median   change  peak mem  peak mem
|   s0        20     20  10000 us  8000 us  -20.0 %         -         -  faster
|   s1        20     20   5000 us  5010 us   +0.2 %         -         -  within noise
|
|   Columns in pairs: before, after; the median call, mean of the runs. Verdicts hold for 99 %.
|
| next: strata diff BEFORE AFTER   two traces: which kernels, gaps and syncs changed
$ strata diff a0 a1 a2 vs many --json | grep -E 'runs_|verdict'
|   "runs_before": 3,
|   "runs_after": 3,
|       "verdict": "faster"
|       "verdict": "no_difference"
$ strata diff a0 a1 a2 vs b0 b1 c | head -3
| wall 300 ms -> 311 ms  (+3.7 %)   3 and 3 runs, stages: 0 faster, 0 slower
|   runs of the same side differ by up to 69 %: the machine was busy, or the runs are not alike
|

$ strata stages a0/timing.json | head -4
| p   300 ms wall
|
|   stage  calls   total   median  p95  first  peak mem
|   s0        20  200 ms  10.0 ms    -      -         -
