# The queries that come with strata.
$ strata sql --list
|   collectives   collectives by kind and group: transfer, waiting, bytes
|   findings      what is wrong, on how many ranks, and what fixing it gains there
|   gaps          idle time of devices by cause, over all ranks
|   hosts         hosts side by side: a slow node shows as one with little waiting and much compute
|   kernels       kernels by time over all ranks
|   ranks         where the time of each rank goes
|   runs          runs side by side: ranks, step time, communication that nothing overlaps
|   slow_kernels  kernels that take longer on one rank than on the others: a slow clock, a slow device, other shapes
|   slow_steps    steps that take over 1.2 times the median of their rank
|   spread        the collectives whose ranks arrive furthest apart
|   stages        stages over all ranks, and the rank that takes longest
|   steps         step times of each rank
|   stragglers    who keeps the others waiting, and what it did meanwhile that others did not
|   syncs         waits of the CPU for a device, by source line, over all ranks
|   unmatched     collectives that only one rank has: ranks are missing, or ran something else
$ strata sql --list --json | jq -c '.[0]'
| {"name":"collectives","summary":"collectives by kind and group: transfer, waiting, bytes"}

# The SQL for a database of one's own; quotes in names stay inside the text.
$ mkdir -p "it's"; strata sql "it's" --query runs --print duckdb | grep -A1 'VIEW steps\|^FROM runs'
| CREATE VIEW steps AS SELECT * FROM read_parquet('it''s/steps/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
| CREATE VIEW stages AS SELECT * FROM read_parquet('it''s/stages/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
| --
| FROM runs
| GROUP BY run
$ strata sql s3://bucket/tables "SELECT 1" --print clickhouse | grep 'VIEW gaps\|^SELECT 1'
| CREATE VIEW gaps AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM s3('s3://bucket/tables/gaps/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
| SELECT 1

# Mistakes.
$ strata sql
! strata: no tables: name the folder of strata export --to tables
? 2
$ strata sql tables
! strata: give either a query in SQL or --query NAME; see --list
? 2
$ strata sql tables --query ranks "SELECT 1"
! strata: give either a query in SQL or --query NAME; see --list
? 2
$ strata sql tables --query stragler
! strata: no query 'stragler'. Did you mean 'stragglers'?
? 2
$ strata sql tables --query ranks
! strata: 'tables' holds no tables; strata export --to tables TRACE... -o tables would write them
? 2
$ strata export --to tables $DATA/tiny.json -o tables > /dev/null; strata sql tables --query ranks --python no/such/python
! strata: 'no/such/python' is not a Python that has duckdb
? 3
