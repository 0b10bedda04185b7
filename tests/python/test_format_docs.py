"""The examples in docs/format run, and what they show is so."""
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parent.parent.parent
DOCS = TREE / "docs" / "format"
TINY = TREE / "tests" / "data" / "tiny.json"


def examples(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.S)


def export(out):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    subprocess.run([program, "export", TINY, "-o", out], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    return out


@pytest.mark.parametrize("sql", examples("sqlite.md", "sql"))
def test_queries_run(tmp_path, sql):
    db = sqlite3.connect(export(tmp_path / "t.sqlite"))
    assert db.execute(sql).description


def test_the_tables_are_the_documented_ones(tmp_path):
    db = sqlite3.connect(export(tmp_path / "t.sqlite"))
    page = (DOCS / "sqlite.md").read_text()
    for name, in db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
                            " AND name NOT LIKE 'sqlite_%'"):
        assert f"`{name}`" in page, name
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
        if name in ("timeline", "kernels", "gpu"):
            continue
        line = next(line for line in page.splitlines() if line.startswith("|") and f"`{name}`" in line)
        for column in columns:
            assert f"`{column}`" in line, f"{name}.{column}"


def test_the_small_reader_reads(tmp_path):
    script, = examples("strata.md", "python")
    done = subprocess.run([sys.executable, "-c", script, export(tmp_path / "t.strata")],
                          capture_output=True, text=True, timeout=60, check=True)
    assert "pipe.py(3): main" in done.stdout
    assert "1000000 400000" in done.stdout
