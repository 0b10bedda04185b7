"""Statements of a report that have to go together: the headline, the list of findings, the checklist
and the ladder, over every trace at hand."""
import json
import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "tests" / "data", ROOT.parent / "shared" / "traces"]
# Which row of the checklist a rule belongs to, as its page says.
ROWS = {
    "cpu_waits": {"sync_in_loop", "thread_readback"},
    "compile": {"unfused_chain", "unfused_attention", "unfused_optimizer", "tensor_loop", "launch_bound"},
    "launch_latency": {"launch_bound", "slow_launch"},
    "gpu_busy": {"data_loader", "exposed_copy", "pageable_copy", "late_launch", "late_start"},
}
# A finding that gains this much of the wall clock is worth a line.
WORTH = 1.0


def traces():
    for folder in FOLDERS:
        for kind in ("whatif", "offload", "advice", "torch", "matmul_add", "abroad", "public", "dlrm8",
                     "wan"):
            for path in sorted((folder / kind).glob("*.json*")):
                if ".expected." not in path.name and path.stat().st_size < 3_000_000:
                    yield pytest.param(path, id=f"{folder.parent.name}-{kind}-{path.name}")


def run(path, *options):
    done = subprocess.run([PROGRAM, "report", str(path), *options], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=traces())
def report(request):
    found = json.loads(run(request.param, "--json"))
    if found["abstains"]:
        pytest.skip("no diagnosis")
    return found, run(request.param), run(request.param, "-v")


def test_no_fix_means_that_none_is_listed(report):
    found, short, full = report
    none = "no fix was found" in found["answer"]["headline"] or "No diagnosis" in found["answer"]["headline"]
    if not none:
        return
    assert not any(finding["worth"] for finding in found["findings"])
    assert "     fix    " not in short and "findings by gain" not in full


def test_a_healthy_row_gains_nothing(report):
    found = report[0]
    for row in found["checklist"]:
        rules = ROWS.get(row["id"], ())
        about = [f["predicted_gain_pct"] or 0 for f in found["findings"] if f["rule"] in rules]
        assert not row["healthy"] or sum(about) < WORTH, row["verdict"]


def test_fast_kernels_are_not_to_be_fused(report):
    """A compiler that brings the wall clock below the work of the GPU has fewer kernels in mind."""
    found = report[0]
    work = [rung["wall_us"] for rung in found["ladder"] if rung["kind"] == "gpu"]
    row = next((row for row in found["checklist"] if row["id"] == "kernels"), None)
    for finding in found["findings"] if work and row else ():
        for way in finding["options"] or ():
            after = found["answer"]["wall_us"] * (1 - way["gain_pct"] / 100)
            if finding["worth"] and way["name"] == "compile" and after < 0.9 * work[0]:
                assert row["healthy"] is not True, row["verdict"]


def test_copies_are_said_to_be_what_is_priced(report):
    """The edit lets copies run ahead: the fix says so first, and no reason says that it cannot help."""
    for finding in report[0]["findings"]:
        if finding["rule"] == "exposed_copy":
            assert finding["fix"].startswith(("Prefetch: ", "Copy results to pinned memory"))
            assert "is the limit" not in finding["why"]
