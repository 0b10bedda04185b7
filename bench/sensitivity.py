#!/usr/bin/env python3
"""What each constant of the analysis still decides.

Every constant (src/analyze/*/*_constants.h) and threshold (src/analyze/thresholds.c) is set to 0.8 and to
1.25 times
its value, whole numbers by at least one, and the reports of all traces at hand are made again. A report
changes when a
finding comes, goes or changes its place, when the verdict changes, or when a gain moves by more than a point.

Most constants do not touch most traces, so constants are changed in groups first, and one by one only in
groups that
change a report. Changes that cancel each other out in a group would be missed.

Traces: tests/data, ../shared/traces where there is such a folder, and those of bench/advice with --advice
FOLDER.
bench/sensitivity.csv: constant, value, unit, how many reports change, and which.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = (".json", ".json.gz", ".json.zst", ".sqlite.gz", ".rpd.gz", ".pb")
GROUP = 16  # constants changed together at first
ROW = re.compile(r'X\((int|double), (\w+), ([^,]+), "([^"]*)"')
THRESHOLD = re.compile(r'\{"(\w+)", ([\d.]+), [\d.e]+,')


def constants():
    """(kind, name, value, unit) of all."""
    for table in sorted((ROOT / "src/analyze").glob("**/*_constants.h")):
        for kind, name, value, unit in ROW.findall(table.read_text()):
            yield kind, name, eval(value, {"__builtins__": {}}), unit  # "1 << 20"
    for name, value in THRESHOLD.findall((ROOT / "src/analyze/thresholds.c").read_text()):
        yield "threshold", name, float(value), name.rsplit("_", 1)[-1]


def traces(folders):
    found = (p for folder in folders for p in Path(folder).rglob("*") if p.name.endswith(ENDINGS))
    return sorted({p.name: p for p in found}.values())


def changed_values(kind, value):
    """The two other values; whole numbers move by at least one."""
    if kind != "int":
        return [0.8 * value, 1.25 * value]
    return [max(0, min(value - 1, round(0.8 * value))), max(value + 1, round(1.25 * value))]


def report(strata, trace, settings=()):
    """What a user would act on."""
    tune = [f"{name}={v:.12g}" for kind, name, v in settings if kind != "threshold"]
    options = [x for kind, name, v in settings if kind == "threshold" for x in ("--set", f"{name}={v:.12g}")]
    env = dict(os.environ, STRATA_TEST_THREADS="1", STRATA_TEST_TUNE=",".join(tune))
    done = subprocess.run([strata, "report", "--json", *options, str(trace)], env=env, capture_output=True,
                          text=True,
                          check=False)
    return parse(done.stdout) if done.returncode == 0 else ("exit", done.returncode)


def parse(text):
    d = json.loads(text)
    findings = [(f.get("rule"), f.get("subject"), f.get("severity"), f.get("predicted_gain_pct"))
                for f in d["findings"]]
    verdict = [d.get(key) for key in ("bound", "abstains", "gains_are", "no_gain_reason")]
    # Figures in sentences move with anything; their words do not.
    return re.sub(r"[\d.,]+", "#", json.dumps(verdict)), findings


def differ(a, b):
    if a[0] != b[0] or not isinstance(a[1], list) or not isinstance(b[1], list) or len(a[1]) != len(b[1]):
        return a != b
    return any(x[:3] != y[:3] or not near(x[3], y[3]) for x, y in zip(a[1], b[1]))


def near(x, y):
    if x is None or y is None:
        return x == y
    return math.isclose(x, y, rel_tol=0, abs_tol=1)


def deciding(strata, trace, base, settings):
    """Those of the settings that change the report of a trace, each by itself."""
    if not settings or not differ(base, report(strata, trace, settings)):
        return []
    if len(settings) == 1:
        return settings
    half = len(settings) // 2
    return deciding(strata, trace, base, settings[:half]) + deciding(strata, trace, base, settings[half:])


def try_trace(strata, trace, chosen):
    """Name and direction of each constant that changes this report; None where there is no report."""
    base = report(strata, trace)
    if base[0] == "exit":
        return None
    hits = []
    for sign, at in (("-", 0), ("+", 1)):
        settings = [(kind, name, changed_values(kind, value)[at]) for kind, name, value, _ in chosen]
        for first in range(0, len(settings), GROUP):
            hits += [(name, sign) for _, name, _ in deciding(strata, trace, base,
                                                             settings[first:first + GROUP])]
    return hits


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--strata", default=ROOT / "build-tune/src/strata")
    p.add_argument("--advice", default=os.environ.get("STRATA_ADVICE"),
                   help="folder with the traces of bench/advice")
    p.add_argument("--only", default="", help="regular expression of names")
    p.add_argument("--most-bytes", type=int, default=1 << 62, help="leave larger traces out")
    p.add_argument("--out", default=ROOT / "bench/sensitivity.csv")
    p.add_argument("-j", type=int, default=1)
    a = p.parse_args()
    folders = [ROOT / "tests/data", ROOT / "../shared/traces"] + ([a.advice] if a.advice else [])
    files = [f for f in traces(f for f in folders if Path(f).is_dir()) if f.stat().st_size <= a.most_bytes]
    chosen = [c for c in constants() if re.search(a.only, c[1])]
    with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
        found = list(zip(files, pool.map(lambda f: try_trace(a.strata, f, chosen), files)))
    found = [(f.name, hits) for f, hits in found if hits is not None]
    rows = []
    for _, name, value, unit in chosen:
        signs = {f: "".join(s for n, s in hits if n == name) for f, hits in found}
        which = [f"{f}({s})" for f, s in signs.items() if s]
        rows.append((name, value, unit, len(which), " ".join(which)))
    with open(a.out, "w", newline="") as out:
        w = csv.writer(out)
        w.writerow(["constant", "value", "unit", "reports", "which"])
        w.writerows(sorted(rows, key=lambda r: (-r[3], r[0])))
    print(f"{len(rows)} constants, {len(found)} traces: {sum(r[3] == 0 for r in rows)} change no report")


if __name__ == "__main__":
    main()
