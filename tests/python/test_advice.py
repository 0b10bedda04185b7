"""bench/advice: the harness from a case to the verdict, on a CPU, and the judge's own judgement."""
import csv
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[2]
ADVICE = ROOT / "bench" / "advice"
STRATA = Path(os.environ.get("STRATA_BUILD", ROOT / "build")).resolve() / "src" / "strata"


@pytest.fixture(scope="module")
def judge():
    spec = importlib.util.spec_from_file_location("advice_judge", ADVICE / "judge.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(script, *options):
    return subprocess.run([sys.executable, str(ADVICE / script), *map(str, options)], text=True,
                          capture_output=True, timeout=120, env={**os.environ, "OMP_NUM_THREADS": "1"})


def test_from_case_to_csv(tmp_path):
    done = run("measure.py", "--out", tmp_path, "fill_then_copy", "healthy_gemm", "--cpu", "--small",
               "--seconds", "0.1", "--strata", STRATA)
    assert done.returncode == 0, done.stderr
    measured = json.loads((tmp_path / "advice.json").read_text())
    assert [case["case"] for case in measured["cases"]] == ["fill_then_copy", "healthy_gemm"], done.stdout
    case = measured["cases"][0]
    assert case["rounds"] >= 7 and set(case["variants"]) == {"v0", "empty"}
    assert set(case["traces"]) == {"light", "full", "strata"}
    done = run("judge.py", "--strata", STRATA, "--traces", tmp_path, "--csv", tmp_path / "advice.csv")
    assert done.returncode == 0, done.stderr
    assert "fix first or second:" in done.stdout and "healthy quiet: 0 of 3" in done.stdout  # no GPU
    rows = list(csv.DictReader((tmp_path / "advice.csv").open()))
    assert {(row["case"], row["recorder"]) for row in rows} == {
        (name, how) for name in ("fill_then_copy", "healthy_gemm") for how in ("light", "full", "strata")}


def test_a_case_that_fails_is_reported(tmp_path):
    done = run("measure.py", "--out", tmp_path, "cupy_chain", "--cpu", "--small")
    missing = json.loads((tmp_path / "advice.json").read_text())["missing"]
    assert done.returncode == 0 and missing[0]["case"] == "cupy_chain", done.stdout
    assert "cupy" in missing[0]["why"].lower()


def test_every_case_can_be_named(judge):
    """Cases and words belong together: every fix's words are a valid expression."""
    sys.path.insert(0, str(ADVICE))
    try:
        import says
    finally:
        sys.path.remove(str(ADVICE))
    for name, words in vars(says).items():
        if name.isupper():
            judge.re.compile(words)


CASE = {"case": "x", "kind": "gpu", "seen_by": ["full"],
        "fixes": [{"name": "tf32", "says": r"(?i)\btf32\b"}, {"name": "bf16", "says": r"(?i)\bbf16\b"},
                  {"name": "useless", "says": "useless"}],
        "variants": {"tf32": {"gain_pct": 60, "spread_pct": 1}, "bf16": {"gain_pct": 90, "spread_pct": 1},
                     "useless": {"gain_pct": 1, "spread_pct": 1}}}


def finding(fix, gain, severity="high", rule="some_rule"):
    return {"rule": rule, "title": "", "subject": "", "fix": fix, "severity": severity,
            "predicted_gain_pct": gain, "predicted_gain_alone_pct": gain, "predicts_gain": True}


@pytest.mark.parametrize("findings, rank, fix, ok_rank, ok_gain", [
    ([finding("Allow TF32, or use bf16.", 52)], 1, "tf32", True, True),
    ([finding("Use bf16, or allow TF32.", 52)], 1, "bf16", True, False),
    ([finding("a", 9), finding("b", 9), finding("allow TF32", 60)], 3, "tf32", False, True),
    ([finding("allow TF32", 44)], 1, "tf32", True, False),
    ([finding("useless", 1)], "", "bf16", False, False),
    ([finding("allow TF32", 60, rule="warm_up")], "", "bf16", False, False),
    ([], "", "bf16", False, False),
])
def test_findings_are_held_to_what_they_name(judge, findings, rank, fix, ok_rank, ok_gain):
    row = judge.judge(CASE, "full", {"findings": findings})
    assert (row["rank"], row["fix"], row["ok_rank"], row["ok_gain"]) == (rank, fix, ok_rank, ok_gain)
    assert row["counted"] and not judge.judge(CASE, "light", {"findings": findings})["counted"]


def test_ways_to_fix_it_are_judged_apart(judge):
    """The one that is named first stands for the finding; one that gains nothing counts, too."""
    fixes = [{"name": "graph", "says": "(?i)cuda_graph"}, {"name": "fused", "says": "compile"}]
    gains = {"graph": {"gain_pct": 80, "spread_pct": 1}, "fused": {"gain_pct": -2, "spread_pct": 1}}
    case = {**CASE, "fixes": fixes, "variants": gains}
    said = {**finding("launch less", 75), "options": [
        {"name": "cuda_graph", "gain_pct": 75}, {"name": "compile", "gain_pct": 30},
        {"name": "larger_batch", "gain_pct": 50}]}
    row = judge.judge(case, "full", {"findings": [said]})
    assert (row["fix"], row["predicted_pct"], row["ok_gain"]) == ("graph", 75, True)
    rows = list(judge.judge_options(case, "full", {"findings": [finding("a", 1), said]}))
    assert [(r["option"], r["predicted_pct"], r["ok_gain"]) for r in rows] == [
        ("graph", 75, True), ("fused", 30, False)]


def test_healthy_is_quiet_or_not(judge):
    case = {**CASE, "kind": "healthy"}

    def quiet(findings, abstains=False):
        said = {"abstains": abstains, "gpu_busy_pct": 99, "findings": findings}
        return judge.judge(case, "full", said)["ok_rank"]
    assert quiet([]) and quiet([finding("a", 1, "low")])
    assert not quiet([finding("a", 1, "low"), finding("b", 9, "medium")])
    assert not quiet([], abstains=True)
