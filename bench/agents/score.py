#!/usr/bin/env python3
"""score.py ANSWERS.jsonl: scores answers to questions.jsonl.

An answer is a line {"id": ..., "answers": [{"cause": text, "place": "file.py:12", "gain_pct": 31.0}, ...]},
best first; an empty list says that nothing is worth changing. Scored are, of the first answer, of the first
two and of all:

    cause   one of the fixes that gain something is named (the words of the question's fixes)
    place   the file, and the line where the question has lines, are those of the program
    gain    within 10 points or a quarter of what that fix was measured to gain

For healthy programs it is right to answer nothing, or nothing that predicts 5 % or more."""
import argparse
import csv
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORTH_PCT = 5
COLUMNS = ("id", "kind", "fix", "measured_pct", "rank", "answered_pct", "cause", "place", "gain")


def load(path):
    return {row["id"]: row for row in map(json.loads, Path(path).read_text().splitlines())}


def fix_named(question, cause):
    """The fix whose words come first in the text."""
    fixes = question["fixes"]
    found = [(m.start(), i) for i, fix in enumerate(fixes) if (m := re.search(fix["words"], cause))]
    return fixes[min(found)[1]] if found else None


def right_place(question, place):
    """None where the question has no place."""
    wanted = question.get("place")
    if not wanted:
        return None
    m = re.match(r"(.*?):(\d+)", place or "")
    if m and Path(m[1]).name in wanted.get("also", []):
        return True
    if not m or Path(m[1]).name != wanted["file"]:
        return False
    low, high = wanted.get("lines", (0, 1 << 30))
    return low <= int(m[2]) <= high


def right_gain(gain, measured):
    return gain is not None and abs(gain - measured) <= max(10, abs(measured) / 4)


def judge_healthy(answers):
    loud = [a for a in answers if (a.get("gain_pct") or 0) >= WORTH_PCT]
    return {"fix": "", "measured_pct": 0, "rank": 1 if not loud else "",
            "answered_pct": loud[0]["gain_pct"] if loud else "", "cause": not loud, "place": None,
            "gain": not loud}


def judge(question, answers):
    row = {"id": question["id"], "kind": question["kind"]}
    if question["kind"] == "healthy":
        return row | judge_healthy(answers)
    for rank, answer in enumerate(answers, 1):
        fix = fix_named(question, answer.get("cause") or "")
        if fix:
            gain = answer.get("gain_pct")
            return row | {"fix": fix["name"], "measured_pct": fix["gain_pct"], "rank": rank,
                          "answered_pct": "" if gain is None else gain, "cause": True,
                          "place": right_place(question, answer.get("place")),
                          "gain": right_gain(gain, fix["gain_pct"])}
    best = question["fixes"][0]
    place = None if right_place(question, None) is None else False
    return row | {"fix": best["name"], "measured_pct": best["gain_pct"], "rank": "", "answered_pct": "",
                  "cause": False, "place": place, "gain": False}


def of(rows, test):
    return f"{sum(bool(test(r)) for r in rows)} of {len(rows)}"


def summary(rows):
    ill = [r for r in rows if r["kind"] != "healthy"]
    well = [r for r in rows if r["kind"] == "healthy"]
    placed = [r for r in ill if r["place"] is not None]
    return "\n".join([
        f"cause named first: {of(ill, lambda r: r['rank'] == 1)}",
        f"among the first two: {of(ill, lambda r: r['rank'] in (1, 2))}",
        f"at all: {of(ill, lambda r: r['cause'])}",
        f"its line right: {of(placed, lambda r: r['place'])}",
        f"its gain right: {of(ill, lambda r: r['gain'])}",
        f"healthy programs left alone: {of(well, lambda r: r['cause'])}",
    ])


def cells(row):
    words = {True: "yes", False: "no", None: ""}
    return {k: words[v] if v is None or isinstance(v, bool) else v for k, v in row.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("--questions", type=Path, default=HERE / "questions.jsonl")
    parser.add_argument("--csv", type=Path, help="every question, into this file")
    args = parser.parse_args()
    questions, answers = load(args.questions), load(args.answers)
    if unknown := answers.keys() - questions.keys():
        sys.exit(f"score.py: no such question: {', '.join(sorted(unknown))}")
    rows = [judge(q, answers[i]["answers"]) for i, q in questions.items() if i in answers]
    if args.csv:
        with args.csv.open("w", newline="") as out:
            writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(cells, rows))
    print(f"{len(rows)} of {len(questions)} questions answered")
    print(summary(rows))


if __name__ == "__main__":
    main()
