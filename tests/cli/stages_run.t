# Screens depend on the length of the path, so the run is looked at from here.
$ ln -s $DATA/run_ranks run_ranks

# A run of four ranks, one of them slow: the others wait for it where they meet.
$ strata stages run_ranks
| train   453 ms wall   4 ranks
|
|   stage         calls     mean      min  rank      max  rank    over  peak mem
|   step             10   414 ms   410 ms     1   416 ms     2   0.5 %   2.10 GB
|     compute        10   176 ms  98.0 ms     3   402 ms     2   128 %   2.10 GB
|     all_reduce     10   233 ms  9.00 ms     2   312 ms     3  34.0 %   2.10 GB
|   save              1  3.50 ms  3.50 ms     0  3.50 ms     0   0.0 %   2.10 GB  1 exception
|   over: how far the slowest rank is above the mean
|
|   rank 2 is the straggler: compute takes 402 ms there, 101 ms on the others (+298 %)
|   the others wait for it in all_reduce: 298 ms each
|
| next: strata diff run_ranks OTHER   what changed against another run

$ strata stages run_ranks --json | head -28
| {
|   "pipeline": "train",
|   "world_size": 4,
|   "wall_us": 453000.000,
|   "stages": [
|     {
|       "name": "step",
|       "path": "step",
|       "count": 10,
|       "errors": 0,
|       "cpu_us": 414000.000,
|       "min_us": 410000.000,
|       "max_us": 416000.000,
|       "min_rank": 1,
|       "max_rank": 2,
|       "imbalance_pct": 0.48,
|       "gpu_us": null,
|       "first_us": 41600.000,
|       "median_us": 41600.000,
|       "p95_us": 45760.000,
|       "peak_bytes": 2100000000
|     },
|     {
|       "name": "compute",
|       "path": "step/compute",
|       "count": 10,
|       "errors": 0,
|       "cpu_us": 176250.000,

# One rank alone.
$ mkdir one && cp $DATA/run_ranks/timing_rank2.json one && strata stages one
| train   452 ms wall   rank 2 of 4
|
|   stage         calls    total   median      p95    first  peak mem  GPU median
|   step             10   416 ms  41.6 ms  45.8 ms  41.6 ms   2.10 GB           -
|     compute        10   402 ms  40.2 ms  44.2 ms  40.2 ms   2.10 GB     36.2 ms
|     all_reduce     10  9.00 ms  0.90 ms  0.99 ms  0.90 ms   2.10 GB           -
|   save              1  3.50 ms  3.50 ms        -  3.50 ms   2.10 GB           -
|   3 of 4 ranks have written nothing yet
|
| next: strata diff one OTHER   what changed against another run

# A file cut short is left out, and told.
$ mkdir cut && cp $DATA/run_ranks/*.json cut && head -c 300 $DATA/run_ranks/timing_rank1.json > cut/timing_rank1.json && strata stages cut | head -3
| train   453 ms wall   3 ranks of 4
|
|   stage         calls     mean      min  rank      max  rank    over  peak mem
! strata: cut: left out 1 unreadable timing file

# A folder with neither timing nor recordings.
$ mkdir empty && strata stages empty
! strata: empty: this folder has no recordings and no traces; expected a trace file or a run folder
? 2

# For Prometheus, every process by itself.
$ strata stages run_ranks --prometheus - | grep -v '^# HELP' | tail -6
| strata_process_running{pipeline="train",host="node0",pid="1003",rank="3"} 0
| # TYPE strata_lost_records_total counter
| strata_lost_records_total{pipeline="train",host="node0",pid="1000",rank="0"} 0
| strata_lost_records_total{pipeline="train",host="node0",pid="1001",rank="1"} 0
| strata_lost_records_total{pipeline="train",host="node0",pid="1002",rank="2"} 0
| strata_lost_records_total{pipeline="train",host="node0",pid="1003",rank="3"} 0
