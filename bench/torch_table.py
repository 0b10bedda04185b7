#!/usr/bin/env python3
"""torch_table.py --build BUILD --python PYTHON: the table of torch.profiler and ours, of one recording.

torch makes its table of events that it has in memory already; ours is the whole process, reading
the exported JSON included. Both run alternately, the best of each counts, and the two tables must
agree: the same names, the same calls, the same totals. Writes torch_table.csv."""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
ROUNDS = 5
STEPS = 3000

PROGRAM = """
import json, sys, time
import torch
from torch.profiler import ProfilerActivity, profile
model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(4)])
x = torch.randn(4, 16)
with torch.no_grad(), profile(activities=[ProfilerActivity.CPU]) as prof:
    for _ in range(int(sys.argv[2])):
        model(x).relu().sum()
prof.export_chrome_trace(sys.argv[1])
best = None
for _ in range(int(sys.argv[3])):
    begin = time.perf_counter()
    averages = prof.key_averages()
    averages.table(row_limit=-1)
    took = time.perf_counter() - begin
    best = took if best is None else min(best, took)
print(json.dumps({"seconds": best, "events": len(prof.events()),
                  "rows": {e.key: [e.count, e.self_cpu_time_total] for e in averages}}))
"""


def ours(strata, trace):
    begin = time.perf_counter()
    done = subprocess.run([strata, "table", trace, "--json", "--limit", "0"], check=True,
                          capture_output=True)
    return time.perf_counter() - begin, json.loads(done.stdout)


def disagreements(theirs, table):
    rows = {r["name"]: (r["calls"], r["self_cpu_us"]) for r in table["rows"]}
    for name, (calls, self_us) in theirs["rows"].items():
        found = rows.get(name)
        if not found or found[0] != calls or abs(found[1] - self_us) > 1e-3 * self_us + 1:
            yield f"{name}: torch {calls} calls, {self_us} us; strata {found}"


def main():
    parser = argparse.ArgumentParser(description="torch.profiler's table beside ours")
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--python", required=True)
    args = parser.parse_args()
    strata = str(args.build / "src" / "strata")
    with tempfile.TemporaryDirectory() as folder:
        trace = str(Path(folder) / "trace.json")
        done = subprocess.run([args.python, "-c", PROGRAM, trace, str(STEPS), str(ROUNDS)], check=True,
                              stdout=subprocess.PIPE)
        theirs = json.loads(done.stdout.splitlines()[-1])
        results = [ours(strata, trace) for _ in range(ROUNDS)]
    wrong = list(disagreements(theirs, results[0][1]))
    for line in wrong:
        print(line)
    seconds = min(r[0] for r in results)
    ratio = theirs["seconds"] / seconds
    print(f"torch.profiler's table of {theirs['events']} events: torch {theirs['seconds']:.3f} s, "
          f"strata {seconds:.3f} s with reading: {ratio:.1f}x")
    with open(HERE / "torch_table.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["events", "torch_seconds", "strata_seconds", "theirs_over_ours", "agree"])
        out.writerow([theirs["events"], f"{theirs['seconds']:.4f}", f"{seconds:.4f}", f"{ratio:.1f}",
                      "no" if wrong else "yes"])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
