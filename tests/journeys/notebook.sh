# shellcheck shell=bash disable=SC2016,SC2154
# A notebook, its data in DuckDB and Polars, and an assistant.
# score 9.5: no kernels as a data frame without an export
show 'python notebook.py'
expect 'inline page: True sandboxed: True'
expect 'forward'
expect 'stages as a data frame: \[1\]'
answer
trace=$DATA/flux2/flux2_after_compile.json.gz
show "strata export --to tables $trace -o tables && ls tables"
ends_with 0
show 'strata sql tables "select name, total_ns from kernels order by total_ns desc limit 3"'
ends_with 0
show "python -c 'import polars; print(polars.read_parquet(\"tables/kernels/**/*.parquet\").shape)'"
ends_with 0
say 'Another trace joins the tables, and the first one stays.'
show "strata export --to tables $DATA/wan/wan_before_compile.json.gz -o tables"
ends_with 0
show 'strata sql tables "select count(*) as traces from runs"'
expect '^ *2$'
show "strata export $trace -o events.csv"
ends_with 0
show "python -c 'import duckdb; print(duckdb.read_csv(\"events.csv\").shape)'"
expect '91815'
show "cp $trace mine.json.gz; strata export mine.json.gz -o mine.json.gz"
reject 'Traceback'
ends_with 2
show "python assistant.py $DATA/flux2"
expect '1[0-9] tools'
finish
