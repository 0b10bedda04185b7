# Two ranks of one run, as if they were two runs.
$ strata compare $DATA/run_ranks/timing_rank0.json $DATA/run_ranks/timing_rank2.json
| wall 450 ms -> 452 ms  (+0.4 %, one run each)   stages: 1 faster, 1 slower
|
|   stage         calls  calls   median   median    change  peak mem  peak mem
|   step             10     10  41.5 ms  41.6 ms    +0.2 %   2.10 GB   2.10 GB  within noise
|     compute        10     10  10.0 ms  40.2 ms  +302.0 %   2.10 GB   2.10 GB  slower
|     all_reduce     10     10  31.0 ms  0.90 ms   -97.1 %   2.10 GB   2.10 GB  faster
|   save              1      1  3.50 ms  3.50 ms    +0.0 %   2.10 GB   2.10 GB  too few calls to tell
|
|   Columns in pairs: before, after. The verdict leaves out the first call of a stage.
|
| next: strata diff BEFORE AFTER   two traces: which kernels, gaps and syncs changed

$ strata compare $DATA/run_ranks/timing_rank0.json $DATA/run_ranks/timing_rank0.json --json | head -24
| {
|   "wall": {
|     "before_us": 450000.000,
|     "after_us": 450000.000,
|     "change_pct": 0.00
|   },
|   "stages": [
|     {
|       "name": "step",
|       "path": "step",
|       "before": {
|         "count": 10,
|         "total_us": 415000.000,
|         "median_us": 41500.000,
|         "gpu_us": null,
|         "peak_bytes": 2100000000
|       },
|       "after": {
|         "count": 10,
|         "total_us": 415000.000,
|         "median_us": 41500.000,
|         "gpu_us": null,
|         "peak_bytes": 2100000000
|       },

# What is not a timing file, or no JSON at all.
$ strata compare $DATA/tiny.json $DATA/run_ranks/timing_rank0.json
! strata: $DATA/tiny.json: not a timing.json: it has no stages
? 3
$ echo '{"stages": {' > cut.json && strata compare cut.json cut.json
! strata: cut.json: byte 13: expected a key in quotes
? 3
$ mkdir empty && strata compare empty empty
! strata: empty: the folder has no timing.json; strata recover makes one from recordings
? 3
$ strata compare $DATA/run_ranks/timing_rank0.json
! strata: compare needs BEFORE AFTER; strata compare --help has an example
? 2
