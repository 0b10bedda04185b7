"""The example for GitHub Actions: its script run on real traces, its workflow read."""
import os
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM

CI = Path(__file__).parents[2] / "examples" / "ci"
DATA = Path(__file__).parent.parent / "data" / "flux2"
BEFORE, AFTER = DATA / "flux2_before_compile.json.gz", DATA / "flux2_after_compile.json.gz"


def gate(folder, *args):
    env = {**os.environ, "PATH": os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"]}
    done = subprocess.run([CI / "gate.sh", *map(str, args)], cwd=folder, env=env, text=True,
                          capture_output=True, timeout=120)
    comment = folder / "comment.md"
    return done, comment.read_text() if comment.exists() else None


def test_a_budget_that_is_kept(tmp_path):
    done, comment = gate(tmp_path, AFTER, CI / "budget.txt", BEFORE)
    assert done.returncode == 0, done.stderr
    assert comment.startswith("### Performance budget: kept\n```\n")
    assert "What changed since the base branch" in comment and comment.count("```") == 4


def test_a_budget_that_is_broken(tmp_path):
    (tmp_path / "tight.txt").write_text("wall_ms <= 1\n")
    done, comment = gate(tmp_path, AFTER, "tight.txt", "no_baseline.json.gz")
    assert done.returncode == 1
    assert comment.startswith("### Performance budget: broken\n```\n")
    assert "What changed" not in comment and comment.count("```") == 2


def test_mistakes_are_not_verdicts(tmp_path):
    (tmp_path / "odd.txt").write_text("speed <= 1\n")
    done, comment = gate(tmp_path, AFTER, "odd.txt")
    assert done.returncode > 1 and "odd.txt" in done.stderr and comment is None
    done, comment = gate(tmp_path, "missing.json.gz", CI / "budget.txt")
    assert done.returncode > 1 and comment is None


def test_a_trace_that_cannot_be_trusted_is_said_so(tmp_path):
    """The workflow's comment needs the file in that case, too."""
    (tmp_path / "cut.json").write_bytes((DATA.parent / "tiny.json").read_bytes()[:3000])
    done, comment = gate(tmp_path, "cut.json", CI / "budget.txt", BEFORE)
    assert done.returncode == 3 and "cannot be trusted" in done.stderr
    assert comment.startswith("### Performance budget: not checked\n") and "What changed" not in comment


def test_limits_of_a_baseline(tmp_path):
    (tmp_path / "relative.txt").write_text("kernels_per_step <= 100 %\nwall_ms <= 105 %\n")
    done, comment = gate(tmp_path, AFTER, "relative.txt", BEFORE)
    assert done.returncode == 0 and "baseline" in comment
    done, comment = gate(tmp_path, AFTER, "relative.txt")
    assert done.returncode == 2 and "needs --baseline TRACE" in done.stderr


def test_the_workflow_uses_what_is_there():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((CI / "strata.yml").read_text())
    steps = workflow["jobs"]["trace"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    for script in scripts:
        subprocess.run(["bash", "-n", "-c", script], check=True)
    (check,) = [s for s in scripts if "gate.sh" in s]
    assert os.access(CI / check.split()[0], os.X_OK)
    assert all("run" in step or "uses" in step for step in steps)
