"""A trace written as .pftrace and read back gives the same answers as the original."""
import json
import os
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("STRATA_TEST_DATA", TREE / "tests" / "data"))
VIEWS = ["table", "kernels", "gaps", "report", "syncs", "steps", "stages", "memory"]


def strata(*args):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    return subprocess.run([program, *map(str, args)], capture_output=True, timeout=120, text=True,
                          check=True).stdout


def without_places(value):
    """Byte offsets and the number of flows belong to the file, not to what it says."""
    if isinstance(value, dict):
        return {k: without_places(v) for k, v in value.items() if k not in ("byte_offset", "events")}
    if isinstance(value, list):
        return [without_places(v) for v in value]
    return value


def views(trace):
    found = {}
    for view in VIEWS:
        text = strata(view, trace, "--json")
        found[view] = without_places(json.loads(text.replace(str(trace), "TRACE")))
    return found


@pytest.mark.parametrize("name", ["tiny.json", "whatif/pingpong_v0.json.gz", "torch/gpu_stack.json.gz",
                                  "torch/memory.json.gz", "torch/old_modules.json.gz"])
def test_the_same_tables_come_out(tmp_path, name):
    original = DATA / name
    copy = tmp_path / "copy.pftrace.gz"
    strata("export", original, "-o", copy)
    assert views(copy) == views(original)
