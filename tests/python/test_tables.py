"""What `strata export --to tables` writes, read by the engines it is for; the numbers are those of other
commands."""
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM

DATA = Path(__file__).resolve().parent.parent / "data"
TABLES = "runs steps stages kernels gaps syncs collectives findings".split()


def strata(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, timeout=120)
    return done.stdout.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two runs: four ranks with collectives, and one trace with stacks, syncs and stages."""
    out = tmp_path_factory.mktemp("tables")
    strata("export", "--to", "tables", DATA / "comm" / "slow_rank", DATA / "tiny.json", "-o", out)
    return out


def rows(folder, table):
    """By pyarrow, file by file: run, rank and the columns."""
    parquet = pytest.importorskip("pyarrow.parquet")
    found = []
    for path in sorted(folder.glob(f"{table}/run=*/rank=*/part.parquet")):
        run, rank = (part.name.split("=")[1] for part in (path.parent.parent, path.parent))
        file = parquet.ParquetFile(path)
        found += [{"run": run, "rank": int(rank), **row} for row in file.read().to_pylist()]
    return found


def test_every_table_of_every_rank_is_a_sound_file(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    for table in TABLES:
        files = list(folder.glob(f"{table}/run=*/rank=*/part.parquet"))
        assert len(files) == 5, table
        schemas = {str(parquet.read_schema(file)) for file in files}
        assert len(schemas) == 1
        for file in files:
            meta = parquet.ParquetFile(file).metadata
            assert meta.num_row_groups == (1 if meta.num_rows else 0)
            for group in range(meta.num_row_groups):
                assert meta.row_group(group).column(0).compression == "ZSTD"


def test_the_numbers_are_those_of_the_other_commands(folder):
    ranks = json.loads(strata("report", "--ranks", DATA / "comm" / "slow_rank", "--json"))
    for said, row in zip(ranks["ranks"], [r for r in rows(folder, "runs") if r["run"] == "slow_rank"]):
        assert said["rank"] == row["rank"] and ranks["world_size"] == row["world_size"]
        for key in ("wall", "compute", "comm", "exposed_comm", "idle"):
            assert round(said[key + "_us"] * 1000) == row[key + "_ns"], key
    kernels = json.loads(strata("kernels", DATA / "tiny.json", "--json", "--limit", "0"))["rows"]
    ours = [r for r in rows(folder, "kernels") if r["run"] == "data"]
    assert [(k["name"], k["calls"], round(k["total_us"] * 1000)) for k in kernels] == [
        (k["name"], k["calls"], k["total_ns"]) for k in ours]
    syncs = json.loads(strata("syncs", DATA / "tiny.json", "--json", "--limit", "0"))["sites"]
    ours = [r for r in rows(folder, "syncs") if r["run"] == "data"]
    assert len(ours) == len(syncs) > 0
    for said, row in zip(syncs, ours):
        assert (said["call"], said["kind"], said["count"], said["op"]) == (
            row["call"], row["kind"], row["count"], row["op"])
        source = said["source"] or {"file": None, "line": None, "function": None}
        assert source == {key: row[key] for key in source}
    findings = json.loads(strata("report", DATA / "tiny.json", "--json"))["findings"]
    ours = [r for r in rows(folder, "findings") if r["run"] == "data"]
    assert [f["rule"] for f in findings] == [r["rule"] for r in ours]


def test_every_column_is_the_figure_of_json():
    """The oracle of all renderings, by an interpreter that reads Parquet."""
    pytest.importorskip("pyarrow.parquet")
    oracle = DATA.parent / "oracle" / "test_results.py"
    done = subprocess.run([sys.executable, oracle, "--strata", PROGRAM, "--some", DATA / "flux2",
                           DATA / "tiny.json"],
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0 and " 0 failed" in done.stdout, done.stdout
    met = dict(re.findall(r"Parquet +(\w+) +(\d+) cells", done.stdout))
    assert set(met) == set(TABLES) - {"runs", "collectives"} and min(map(int, met.values())) > 40, done.stdout


def test_a_collective_has_the_same_name_on_all_its_ranks(folder):
    by_identity = {}
    for row in rows(folder, "collectives"):
        key = (row["group_key"], row["number"], row["part"])
        by_identity.setdefault(key, set()).add(row["rank"])
    assert len(by_identity) == 10
    assert all(ranks == {0, 1, 2, 3} for ranks in by_identity.values())


def test_nulls_and_odd_text_survive(tmp_path):
    name = "kernel \"quoted\", \\ with\nbreak \u00e4\U0001f600 <&>"
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5,
               "args": {"device": 0, "stream": 7}} for i in range(3)]
    (tmp_path / "odd.json").write_text(json.dumps({"traceEvents": events}))
    strata("export", "--to", "tables", tmp_path / "odd.json", "-o", tmp_path / "tables")
    kernel, = rows(tmp_path / "tables", "kernels")
    assert (kernel["name"], kernel["calls"], kernel["total_ns"]) == (name, 3, 15000)
    assert kernel["bytes"] is None and kernel["roof_pct"] is None
    run, = rows(tmp_path / "tables", "runs")
    assert run["host"] is None and run["world_size"] is None and run["wall_ns"] == 25000
    assert rows(tmp_path / "tables", "syncs") == []


def expected(folder, table):
    return sorted((row["run"], row["rank"]) for row in rows(folder, table))


def test_duckdb_reads_them(folder):
    duckdb = pytest.importorskip("duckdb")
    for table in TABLES:
        seen = duckdb.connect().execute(
            f"SELECT run, rank FROM read_parquet('{folder}/{table}/*/*/*.parquet', hive_partitioning=true)")
        assert sorted(seen.fetchall()) == expected(folder, table)


def test_polars_reads_them(folder):
    polars = pytest.importorskip("polars")
    for table in TABLES:
        frame = polars.scan_parquet(folder / table).select("run", "rank").collect()
        assert sorted(frame.rows()) == expected(folder, table)


def test_pyarrow_and_pandas_read_the_folder_as_one_table(folder):
    dataset = pytest.importorskip("pyarrow.dataset")
    pandas = pytest.importorskip("pandas")
    for table in TABLES:
        whole = dataset.dataset(folder / table, partitioning="hive").to_table()
        seen = zip(whole["run"].to_pylist(), whole["rank"].to_pylist())
        assert sorted(seen) == expected(folder, table)
        assert len(pandas.read_parquet(folder / table)) == whole.num_rows


def test_clickhouse_reads_them(folder):
    session = pytest.importorskip("chdb.session")
    clickhouse = session.Session()
    for table in TABLES:
        text = clickhouse.query(f"SELECT run, rank FROM file('{folder}/{table}/*/*/*.parquet', Parquet) "
                                "SETTINGS use_hive_partitioning = 1", "JSONCompactEachRow")
        seen = [json.loads(line) for line in str(text).splitlines()]
        assert sorted((run, int(rank)) for run, rank in seen) == expected(folder, table)


def test_the_page_of_the_format_lists_every_column(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    page = (DATA.parents[1] / "docs" / "format" / "tables.md").read_text()
    for table in TABLES:
        line = next(line for line in page.splitlines() if line.startswith(f"| `{table}` "))
        said = line.split("|")[3].replace("`", "").replace(" ", "").split(",")
        schema = parquet.read_schema(next(folder.glob(f"{table}/*/*/part.parquet")))
        assert said == [field.name + "?" * field.nullable for field in schema]
