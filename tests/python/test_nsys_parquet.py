"""`nsys export -t parquetdir`: the same tables in Parquet files, read as the SQLite export is."""
import os
import sqlite3
import subprocess

import pytest

from nsys_db import write_sample

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def strata(*args):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    return subprocess.run([program, *map(str, args)], capture_output=True, timeout=60)


def to_parquet(database, folder, **options):
    """Every table of the database as a file, the way pyarrow's defaults or `options` write it."""
    folder.mkdir()
    connection = sqlite3.connect(database)
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type='table'").fetchall()
    for (name,) in names:
        cursor = connection.execute(f'SELECT * FROM "{name}"')
        columns = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
        values = {c: pa.array([row[i] for row in rows]) for i, c in enumerate(columns)}
        pq.write_table(pa.table(values), folder / f"{name}.parquet", **options)
    return folder


def csv_of(path):
    done = strata("export", path, "-o", "-", "--to", "csv", "--args")
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("options", [
    {"compression": "snappy"}, {"compression": "zstd", "data_page_version": "2.0"},
    {"compression": "none", "use_dictionary": False}, {"compression": "gzip", "row_group_size": 1},
    {"compression": "snappy", "data_page_version": "2.0", "use_dictionary": False}])
def test_both_exports_are_one_trace(tmp_path, options):
    database = tmp_path / "report.sqlite"
    write_sample(database)
    folder = to_parquet(database, tmp_path / "report_pqtdir", **options)
    assert csv_of(folder) == csv_of(database)


def test_a_damaged_file_is_named(tmp_path):
    database = tmp_path / "report.sqlite"
    write_sample(database)
    folder = to_parquet(database, tmp_path / "report_pqtdir")
    file = folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    done = strata("info", folder)
    assert done.returncode == 3
    assert b"CUPTI_ACTIVITY_KIND_KERNEL.parquet" in done.stderr
    assert b"its end is missing" in done.stderr
