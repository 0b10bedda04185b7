# shellcheck shell=bash disable=SC2016,SC2154
# Data-parallel training on two ranks, one of them late.
# score 9: at level stages the straggler is named without the line
show 'strata run -- torchrun --nproc-per-node 2 ddp.py'
expect 'rank 1'
answer
show 'strata run --level timeline -- torchrun --nproc-per-node 2 ddp.py'
expect '[Rr]ank 1 is the straggler'
reject '_invoke_run'
show "strata report $(newest ddp)"
expect '[Rr]ank 1 is the straggler: .*augment'
reject '_invoke_run|requests, mean|GPU idle|critical path: .*rank 0 [5-9][0-9]'
show "strata report $(newest ddp) --rank 1"
expect 'augment'
show "strata report $DATA/comm/slow_rank"
expect 'Rank 2 is the straggler'
finish
