-- Tables of `strata export --to tables` as views in ClickHouse. @TABLES@ stands for their folder, @SOURCE@ for
-- the function that reads it: file, or s3 for an address. Run and rank are taken from the path as
-- text and number: by itself ClickHouse guesses their types from the first path it sees.
CREATE VIEW runs AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/runs/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW steps AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/steps/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW stages AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/stages/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW kernels AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/kernels/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW gaps AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/gaps/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW syncs AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/syncs/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW collectives AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/collectives/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
CREATE VIEW findings AS SELECT *, extract(_path, '/run=([^/]+)/') AS run, toInt64(extract(_path, '/rank=([0-9]+)/')) AS rank FROM @SOURCE@('@TABLES@/findings/run=*/rank=*/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;
