# All ranks of a folder into one folder of tables; the name of the run is that of their folder.
$ strata export --to tables $DATA/comm/slow_rank -o tables
| tables   4 ranks, 8 tables each
|
| next: strata sql tables --query ranks
$ find tables -name '*.parquet' | wc -l
| 32
$ ls tables tables/kernels tables/kernels/run=slow_rank
| tables:
| _traces
| collectives
| findings
| gaps
| kernels
| runs
| stages
| steps
| syncs
|
| tables/kernels:
| run=slow_rank
|
| tables/kernels/run=slow_rank:
| rank=0
| rank=1
| rank=2
| rank=3
$ head -c 4 tables/runs/run=slow_rank/rank=2/part.parquet; echo
| PAR1
$ tail -c 4 tables/runs/run=slow_rank/rank=2/part.parquet; echo
| PAR1

# Ranks are independent, a rank that is written again replaces itself, and a run can be named.
$ strata export --to tables $DATA/comm/slow_rank -o again --json | jq -c '.ranks[].rank, .failed'
| 0
| 1
| 2
| 3
| 0
$ for rank in 3 1 0 2 1; do strata export --to tables $DATA/comm/slow_rank/rank$rank.json -o again; done > /dev/null
> diff -r tables again && echo same
| same
$ strata export --to tables $DATA/tiny.json -o named --run 'of my/own =' --rank 7 --json | jq -c .ranks
| [{"trace":"$DATA/tiny.json","run":"of_my_own__","rank":7}]
$ find named/steps -type f
| named/steps/run=of_my_own__/rank=7/part.parquet
$ strata export $DATA/tiny.json --to tables -o exported; find exported/steps -type f
| exported   1 rank, 8 tables each
|
| next: strata sql exported --query ranks
| exported/steps/run=data/rank=0/part.parquet

# A file that is no trace is left out, and so is a rank that is there twice: the rest is written.
$ mkdir -p bad; cp $DATA/comm/slow_rank/rank1.json bad; cp bad/rank1.json bad/rank1_copy.json; echo '{}' > bad/empty.json
> echo nothing > broken.json; strata export --to tables bad broken.json -o some
! strata: bad/rank1_copy.json: rank 1 of run bad was there already; left out
! strata: broken.json: not a trace: expected '{' or '[' at byte 0, found "nothing"; left out
! strata: 2 of 3 traces left out
? 3
$ find some/runs -type f
| some/runs/run=bad/rank=1/part.parquet

# Mistakes.
$ strata export --to tables $DATA/tiny.json
! strata: no output folder: give -o FOLDER
? 2
$ strata export --to tables nothing.json -o tables
! strata: nothing.json: cannot open: No such file or directory
? 3
$ strata export --to tables $DATA/tiny.json -o /dev/null/x
! strata: cannot make the folder '/dev/null': File exists
? 3
$ strata export $DATA/tiny.json --to tables -o x --strip
! strata: --strip does not apply to tables
? 2
