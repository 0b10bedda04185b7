"""JSON -> .strata -> JSON: every command gives the same numbers on all three."""
import os
import subprocess
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent / "data"
TRACES = sorted(DATA.glob("**/*.json")) + sorted(DATA.glob("**/*.json.gz"))
COMMANDS = ["table", "kernels", "steps", "stages", "launches", "syncs", "gaps"]


def strata(*args):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    done = subprocess.run([program, *args], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("trace", [t for t in TRACES if not t.name.endswith(".expected.json")],
                         ids=lambda t: t.name)
def test_same_numbers(tmp_path, trace):
    native, again = tmp_path / "t.strata", tmp_path / "t.json"
    strata("export", trace, "-o", native)
    strata("export", native, "-o", again)
    for command in COMMANDS:
        want = strata(command, trace, "--json")
        assert strata(command, native, "--json") == want, command
        assert strata(command, again, "--json") == want, command
