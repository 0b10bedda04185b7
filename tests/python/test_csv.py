"""`strata export --to csv` as DuckDB, Polars and pandas read it with their defaults: they look at the
first rows to guess types and quoting, and what is odd here comes late."""
import json
import subprocess
import warnings

import pytest

from conftest import PROGRAM

ROWS = 30000  # DuckDB looks at 20,480 of them, Polars at 100
ODD = "late \"name\", with\nall; of | it"
NUMBERS = ("row ts_ns dur_ns pid tid lane device stream parent depth correlation external_id launch_row "
           "bytes registers shared_bytes occupancy_pct").split()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Calls on a thread with a number, then on one whose process and thread are words."""
    folder = tmp_path_factory.mktemp("csv")
    events = [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 5}
              for i in range(ROWS)]
    events.append({"ph": "X", "cat": "kernel", "name": ODD, "pid": 0, "tid": 7, "ts": 10 * ROWS, "dur": 5,
                   "args": {"device": 0, "stream": 7, "correlation": 11,
                            "grid": [4, 2, 1], "block": [64, 1, 1]}})
    events.append({"ph": "X", "cat": "cpu_op", "name": "=last", "pid": "Spans", "tid": "PyTorch Profiler",
                   "ts": 10 * ROWS + 20, "dur": 5, "args": {"Input Dims": [[2, 3]], "External id": 9}})
    (folder / "t.json").write_text(json.dumps({"traceEvents": events}))
    subprocess.run([PROGRAM, "export", folder / "t.json", "-o", folder / "t.csv"], check=True,
                   capture_output=True)
    return folder / "t.csv"


def check(rows):
    """`rows` is a list of dicts with the values as the reader made them; None for nothing."""
    assert len(rows) == ROWS + 2
    by_name = {row["name"]: row for row in rows}
    assert set(by_name) == {"op", ODD, "'=last"}
    words, kernel = by_name["'=last"], by_name[ODD]
    assert words["pid"] is None and words["tid"] is None
    assert (words["pid_text"], words["tid_text"]) == ("Spans", "PyTorch Profiler")
    assert kernel["pid_text"] is None and int(kernel["pid"]) == 0 and int(kernel["tid"]) == 7
    assert kernel["grid"] == "4x2x1" and int(kernel["correlation"]) == 11
    assert words["input_dims"].replace(" ", "") == "[[2,3]]"
    for row in rows:
        for name in NUMBERS:
            assert row[name] is None or int(row[name]) == float(row[name]), name


def test_duckdb(table):
    duckdb = pytest.importorskip("duckdb")
    done = duckdb.connect().execute(f"SELECT * FROM '{table}'")
    types = {column[0]: str(column[1]) for column in done.description}
    assert all(types[name] == "BIGINT" for name in ("row", "ts_ns", "dur_ns", "pid", "tid", "lane", "depth"))
    check([dict(zip(types, row)) for row in done.fetchall()])


def test_polars(table):
    polars = pytest.importorskip("polars")
    frame = polars.read_csv(table)
    assert all(frame[name].dtype == polars.Int64 for name in ("row", "ts_ns", "dur_ns", "pid", "tid"))
    check(frame.to_dicts())


def test_pandas(table):
    pandas = pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # columns of mixed types
        frame = pandas.read_csv(table)
    assert all(pandas.api.types.is_numeric_dtype(frame[name]) for name in NUMBERS)
    check([{key: None if pandas.isna(value) else value for key, value in row.items()}
           for row in frame.to_dict("records")])
