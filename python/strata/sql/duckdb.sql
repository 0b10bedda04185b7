-- Tables of `strata export --to tables` as views in DuckDB. @TABLES@ stands for their folder.
CREATE VIEW runs AS SELECT * FROM read_parquet('@TABLES@/runs/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW steps AS SELECT * FROM read_parquet('@TABLES@/steps/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW stages AS SELECT * FROM read_parquet('@TABLES@/stages/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW kernels AS SELECT * FROM read_parquet('@TABLES@/kernels/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW gaps AS SELECT * FROM read_parquet('@TABLES@/gaps/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW syncs AS SELECT * FROM read_parquet('@TABLES@/syncs/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW collectives AS SELECT * FROM read_parquet('@TABLES@/collectives/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
CREATE VIEW findings AS SELECT * FROM read_parquet('@TABLES@/findings/run=*/rank=*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'rank': BIGINT});
