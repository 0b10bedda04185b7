$ ln -s $DATA/whatif/pingpong_v0.json.gz v0.json.gz

# The profiler hides what the .item() costs; a wall clock measured without it fits its cost.
$ strata whatif v0.json.gz --drop-sync 1 --wall 36.35
|   36.351 -> 26.644 ms   -26.7 %, likely -17.5 to -34.7 %   (without the profiler)
|   in the trace itself 40.961 -> 39.928 ms, -2.5 %: recording changes the critical path
|   --drop-sync 1 (16 matched)
|   model: replay 40.961 -> 40.961 ms, error 0.00 %
|          profiler fitted: 12.3 us per launch, 4.1 us per operator, CPU x0.91
$ strata whatif v0.json.gz --drop-cpu cache_context --drop-sync 1
|   38.142 -> 21.991 ms   -42.3 %, likely -41.6 to -43.4 %   (without the profiler)
|   in the trace itself 40.961 -> 26.768 ms, -34.7 %: recording changes the critical path
|   --drop-cpu cache_context (16 matched)
|   --drop-sync 1 (16 matched)
|   model: replay 40.961 -> 40.961 ms, error 0.00 %
|          profiler estimated: 11.2 us per launch, 3.7 us per operator
|
| next: --wall MS (the wall time without a profiler) replaces the estimated cost with a fitted one
$ strata whatif v0.json.gz
|   without the profiler about 38.1 ms
|   model: replay 40.961 -> 40.961 ms, error 0.00 %
|          profiler estimated: 11.2 us per launch, 3.7 us per operator
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

# Work that CUDA graphs launch already gains nothing in another graph, and no wait inside is to blame.
$ strata whatif $DATA/torch/gpu_graph.json.gz --cuda-graph step | sed -n 3,5p
|   0.8828 -> 0.8828 ms   no change (below 0.05 %)   (without the profiler)
|   --cuda-graph step (2 matched):
|     CUDA graphs launch work in it already, which gains nothing again
