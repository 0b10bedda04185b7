"""`python -m strata.fleet`: many traces on the cores of this machine, on Ray and as a Slurm array. A
worker that dies amid the work loses nothing and doubles nothing."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM, clean_environment

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture
def traces(tmp_path):
    """Twelve ranks in a folder, without numbers of their own."""
    folder = tmp_path / "job one"
    folder.mkdir()
    text = (DATA / "tiny.json").read_text()
    for i in range(12):
        (folder / f"host{i:02}.json").write_text(text)
    return folder


def fleet(*arguments, **env):
    return subprocess.run([sys.executable, "-m", "strata.fleet", *map(str, arguments)], timeout=300,
                          capture_output=True, text=True, env=clean_environment(**env))


def ranks(folder, run="job_one"):
    """By what lies in the folder of each table; they have to agree."""
    found = {table.name: sorted(int(path.parent.name[5:]) for path in table.glob(f"run={run}/*/part.parquet"))
             for table in Path(folder).iterdir() if not table.name.startswith("_")}
    assert len(found) == 8 and len(set(map(tuple, found.values()))) == 1, found
    return found["runs"]


def test_every_trace_becomes_a_rank_of_its_own(traces, tmp_path):
    done = fleet(traces, "-o", tmp_path / "tables", "--workers", 3, "--query", "none")
    assert done.returncode == 0, done.stderr
    assert "12 of 12 traces summarized" in done.stdout
    assert ranks(tmp_path / "tables") == list(range(12))


def test_the_tables_are_asked_in_the_end(tmp_path):
    pytest.importorskip("duckdb")
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    done = fleet(DATA / "comm" / "slow_rank", "-o", tmp_path / "tables", PATH=path)
    assert done.returncode == 0, done.stderr
    head, row = (line.split() for line in done.stdout.splitlines()[1:3])
    assert dict(zip(head, row))["rank"] == "2" and dict(zip(head, row))["late_ms"] == "1.405"


def test_a_broken_trace_is_reported_and_the_others_are_written(traces, tmp_path):
    (traces / "host05.json").write_text("nothing")
    done = fleet(traces / "host0*.json", "-o", tmp_path / "tables", "--query", "none")
    assert done.returncode == 3 and "host05.json" in done.stderr and "9 of 10" in done.stdout
    assert ranks(tmp_path / "tables") == [0, 1, 2, 3, 4, 6, 7, 8, 9]


def test_a_rank_that_two_traces_claim_is_reported(tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    for name in ("rank1.json", "rank1_again.json"):
        shutil.copy(DATA / "comm" / "slow_rank" / "rank1.json", folder / name)
    done = fleet(folder, "-o", tmp_path / "tables", "--query", "none")
    # whichever of the two comes second finds the table there, or both were written at once
    assert done.returncode == 3 and "rank 1 of run job" in done.stderr


def test_an_engine_that_is_missing_says_what_to_install(traces, tmp_path):
    done = fleet(traces, "-o", tmp_path / "tables", "--engine", "slurm", PATH="/nonexistent")
    assert done.returncode == 2 and "sbatch is not on the path" in done.stderr


def fatal_program(tmp_path, times=1):
    """The strata command, which `times` times kills the worker that started it, half-way."""
    script = tmp_path / "fatal" / "strata"
    script.parent.mkdir()
    script.write_text(f"""#!/bin/bash
echo "$PPID" >>{tmp_path}/started
sleep 0.2
for i in $(seq {times}); do mkdir {tmp_path}/died$i 2>/dev/null && kill -9 $PPID && exit 1; done
exec {PROGRAM!r} "$@"
""")
    script.chmod(0o755)
    return script


@pytest.mark.slow
def test_ray_loses_nothing_when_a_worker_dies(traces, tmp_path):
    pytest.importorskip("ray")
    program = fatal_program(tmp_path, times=2)
    done = fleet(traces, "-o", tmp_path / "tables", "--engine", "ray", "--workers", 2, "--query", "none",
                 STRATA_BIN=program, RAY_DEDUP_LOGS=0)
    assert done.returncode == 0, done.stderr
    assert "12 of 12 traces summarized" in done.stdout
    started = (tmp_path / "started").read_text().split()
    assert (tmp_path / "died2").exists() and len(started) == 14, "two jobs ran again"
    assert len(set(started)) >= 3, "two workers, and those that took the place of the dead"
    assert ranks(tmp_path / "tables") == list(range(12))


ARRAY = """#!/bin/bash
# sbatch as far as the script can tell: runs every task of the array, the second one twice.
for script; do :; done
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
for task in $(seq 0 "$last") 1; do SLURM_ARRAY_TASK_ID=$task bash "$script"; done
"""


def test_the_script_of_a_slurm_array_does_every_job_once(traces, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sbatch").write_text(ARRAY)
    (tmp_path / "bin" / "sbatch").chmod(0o755)
    done = fleet(traces, "-o", tmp_path / "tables", "--engine", "slurm", "--workers", 5, "--query", "none",
                 PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert ranks(tmp_path / "tables") == list(range(12))
    said = [json.loads(path.read_text())["ranks"][0]["rank"]
            for path in (tmp_path / "tables" / "_slurm").glob("*.json")]
    assert sorted(said) == list(range(12))


@pytest.mark.skipif("STRATA_TEST_SLURM" not in os.environ, reason="STRATA_TEST_SLURM=1 with a slurmd running")
def test_a_real_slurm_runs_the_array(traces, tmp_path):
    done = fleet(traces, "-o", tmp_path / "tables", "--engine", "slurm", "--workers", 4, "--query", "none")
    assert done.returncode == 0, done.stderr
    assert ranks(tmp_path / "tables") == list(range(12))
