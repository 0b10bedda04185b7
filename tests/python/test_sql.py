"""`strata sql`: the views and the named queries, on DuckDB and on ClickHouse over the same files."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PACKAGE, PROGRAM

DATA = Path(__file__).resolve().parent.parent / "data"
QUERIES = sorted(path.stem for path in Path(PACKAGE, "strata", "sql", "queries").glob("*.sql"))


def strata(*arguments, env=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env=env)


def ask(folder, *arguments):
    pytest.importorskip("duckdb")
    done = strata("sql", folder, *arguments, "--python", sys.executable)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("it's a folder") / "tables"
    done = strata("export", "--to", "tables", DATA / "comm" / "slow_rank", DATA / "tiny.json", "-o", out)
    assert done.returncode == 0, done.stderr
    # a run whose name would read as a number is made a name
    done = strata("export", "--to", "tables", DATA / "tiny.json", "-o", out, "--run", "20261115")
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def clickhouse(folder):
    session = pytest.importorskip("chdb.session").Session()
    script = strata("sql", folder, "SELECT 1", "--print", "clickhouse").stdout
    lines = [line for line in script.splitlines() if not line.startswith("--")]
    for statement in "\n".join(lines).split(";\n"):
        if statement.strip():
            session.query(statement)
    return session


def alike(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a == pytest.approx(b, rel=1e-3, abs=2e-3)
    return a == b


def test_there_are_a_dozen_queries_and_each_says_what_it_answers():
    listed = json.loads(strata("sql", "--list", "--json").stdout)
    assert [query["name"] for query in listed] == QUERIES and len(QUERIES) >= 12
    assert all(query["summary"] for query in listed)


@pytest.mark.parametrize("name", QUERIES)
def test_both_engines_answer_a_query_alike(folder, clickhouse, name):
    ours = json.loads(ask(folder, "--query", name, "--json"))
    sql = Path(PACKAGE, "strata", "sql", "queries", f"{name}.sql").read_text()
    settings = " SETTINGS output_format_json_quote_64bit_integers = 0"
    theirs = [json.loads(line) for line in
              str(clickhouse.query(sql.rstrip() + settings, "JSONEachRow")).splitlines()]
    assert len(ours) == len(theirs)
    assert ours or name in ("unmatched", "slow_steps")
    for a, b in zip(ours, theirs):
        assert list(a) == list(b)
        assert all(alike(a[key], b[key]) for key in a), (a, b)


def test_the_straggler_is_the_one_that_ranks_names(folder):
    said = json.loads(strata("report", "--ranks", DATA / "comm" / "slow_rank", "--json").stdout)["stragglers"]
    row, = json.loads(ask(folder, "--query", "stragglers", "--json"))
    assert row["rank"] == said[0]["rank"] == 2
    assert row["late_ms"] == pytest.approx(said[0]["late_us"] / 1000, rel=0.01)
    assert row["collectives"] == said[0]["collectives"]
    causes = {key: value for key, value in row.items() if key.startswith("more_")}
    assert max(causes, key=causes.get) == "more_compute_ms"


def test_text_csv_and_json_are_the_same_result(folder):
    sql = "SELECT run, rank, count(*) AS n FROM kernels GROUP BY run, rank ORDER BY run, rank"
    rows = json.loads(ask(folder, sql, "--json"))
    assert [row["run"] for row in rows] == ["data", "run_20261115"] + ["slow_rank"] * 4
    text = [line.split() for line in ask(folder, sql).splitlines()]
    table = [line.split(",") for line in ask(folder, sql, "--csv").splitlines()]
    expected = [["run", "rank", "n"]] + [[str(value) for value in row.values()] for row in rows]
    assert text == table == expected


def test_a_pattern_names_several_folders(folder):
    pattern = str(folder.parent / "tab*")
    assert json.loads(ask(pattern, "SELECT count(*) AS n FROM runs", "--json")) == [{"n": 6}]


def test_a_refused_query_says_why(folder):
    pytest.importorskip("duckdb")
    done = strata("sql", folder, "SELECT nothing FROM runs", "--python", sys.executable)
    assert done.returncode == 2 and done.stdout == ""
    assert "nothing" in done.stderr and "DuckDB refused the query" in done.stderr


def test_without_duckdb_it_says_what_to_install(folder, tmp_path):
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 77\n")
    (tmp_path / "python3").chmod(0o755)
    done = strata("sql", folder, "SELECT 1", env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode != 0 and "pip install duckdb" in done.stderr


def test_the_program_of_duckdb_does_as_well(folder, tmp_path):
    program = shutil.which("duckdb", path=os.path.dirname(sys.executable) + ":" + os.environ["PATH"])
    if not program:
        pytest.skip("the program duckdb is not installed (pip install duckdb-cli)")
    (tmp_path / "duckdb").symlink_to(program)
    done = strata("sql", folder, "--query", "ranks", "--json", env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(ask(folder, "--query", "ranks", "--json"))
