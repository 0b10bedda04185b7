"""bench/agents: questions are sound, the scorer is strict, reports answer those whose traces are here."""
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "bench" / "agents"
QUESTIONS = [json.loads(line) for line in (AGENTS / "questions.jsonl").read_text().splitlines()]


def score(tmp_path, answers):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(a) + "\n" for a in answers))
    done = subprocess.run([sys.executable, AGENTS / "score.py", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {k: tuple(map(int, re.findall(r"\d+", v)))
            for k, _, v in (line.partition(": ") for line in done.stdout.splitlines()[1:])}


def test_questions_are_sound():
    assert len({q["id"] for q in QUESTIONS}) == len(QUESTIONS) > 90
    for q in QUESTIONS:
        assert (q["kind"] == "healthy") == (not q["fixes"]), q["id"]
        gains = [f["gain_pct"] for f in q["fixes"]]
        assert all(5 <= g <= 100 for g in gains)
        for fix in q["fixes"]:
            re.compile(fix["words"])
        if not q["trace"].startswith("advice:"):
            assert (ROOT / q["trace"]).exists()


def test_silence_and_noise(tmp_path):
    silent = score(tmp_path, [{"id": q["id"], "answers": []} for q in QUESTIONS])
    assert silent["cause named first"][0] == 0 and silent["its gain right"][0] == 0
    healthy = silent["healthy programs left alone"]
    assert healthy[0] == healthy[1] > 10
    noisy = score(tmp_path, [{"id": q["id"], "answers": [{"cause": "use more GPUs", "gain_pct": 50}]}
                             for q in QUESTIONS])
    assert noisy["cause named first"][0] == 0 and noisy["healthy programs left alone"][0] == 0


@pytest.mark.parametrize("gain,place,good", [
    (94.3, "advice.py:37", (1, 1, 1)), (80, "work/advice.py:1", (1, 1, 1)), (60, "advice.py:37", (1, 1, 0)),
    (94.3, "other.py:37", (1, 0, 1)), (None, None, (1, 0, 0))])
def test_what_counts_as_right(tmp_path, gain, place, good):
    cause = "Use a flash backend of scaled_dot_product_attention"
    answer = {"cause": cause, "gain_pct": gain, "place": place}
    got = score(tmp_path, [{"id": "attention_math", "answers": [answer]}])
    assert (got["cause named first"][0], got["its line right"][0], got["its gain right"][0]) == good
    second = [{"cause": "more memory", "gain_pct": 1}, answer]
    got = score(tmp_path, [{"id": "attention_math", "answers": second}])
    assert got["cause named first"][0] == 0 and got["among the first two"][0] == 1


def test_reports_answer_what_is_here(tmp_path):
    out = tmp_path / "md.jsonl"
    subprocess.run([sys.executable, AGENTS / "from_md.py", "--strata", PROGRAM, "-o", out], check=True,
                   capture_output=True)
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert {a["id"] for a in answers} == {q["id"] for q in QUESTIONS if not q["trace"].startswith("advice:")}
    got = score(tmp_path, answers)
    for key in ("cause named first", "its line right", "healthy programs left alone"):
        assert got[key][0] == got[key][1] > 0, key
