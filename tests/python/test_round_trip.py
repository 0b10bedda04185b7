"""JSON -> .strata -> JSON: every command gives the same numbers on all three."""
import gzip
import os
import subprocess
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data"
COMMANDS = ["table", "kernels", "steps", "stages", "gaps --launches", "syncs", "gaps"]


def is_trace(path):
    """Other files lie there too: expectations, budgets."""
    with (gzip.open(path) if path.suffix == ".gz" else open(path, "rb")) as file:
        return b'"traceEvents"' in file.read(1 << 20)


TRACES = [path for path in sorted(DATA.glob("**/*.json*")) if is_trace(path)]


def strata(*args):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    done = subprocess.run([program, *args], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("trace", TRACES, ids=lambda t: t.name)
def test_same_numbers(tmp_path, trace):
    native, again = tmp_path / "t.strata", tmp_path / "t.json"
    strata("export", trace, "-o", native)
    strata("export", native, "-o", again)
    for command in COMMANDS:
        want = strata(*command.split(), trace, "--json")
        assert strata(*command.split(), native, "--json") == want, command
        assert strata(*command.split(), again, "--json") == want, command
