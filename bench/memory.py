#!/usr/bin/env python3
"""memory.py --strata BINARY: how long a memory snapshot of 100 MB takes. memory.csv has the figures.

The goal, 2 s, is judged by processor time: the reader has one thread, and a busy machine does not change it.
The snapshot is that of a training loop whose events are repeated; every event has a dict and a list of its
own, as torch writes them."""
import argparse
import csv
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "python"))
import snapshots  # noqa: E402

GOAL_S = 2
LEAST_BYTES = 100_000_000


def make(path):
    whole = snapshots.training(steps=50, keeps=1 << 20, layers=8).snapshot()
    [events] = whole["device_traces"]
    span = events[-1]["time_us"] - events[0]["time_us"] + 10
    one = len(pickle.dumps(events)) - len(pickle.dumps(events[:1]))
    whole["device_traces"] = [[dict(e, time_us=e["time_us"] + k * span, frames=list(e["frames"]))
                               for k in range(LEAST_BYTES // one + 1) for e in events]]
    snapshots.write(path, whole)
    return len(whole["device_traces"][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strata", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.pickle"
        n = make(path)
        for _ in range(args.rounds):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.perf_counter()
            subprocess.run([args.strata, "memory", path, "--json"], check=True, stdout=subprocess.DEVNULL)
            wall = time.perf_counter() - began
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows.append((wall, cpu, after.ru_maxrss * 1024))
        size = path.stat().st_size
    wall, cpu, peak = min(r[0] for r in rows), min(r[1] for r in rows), max(r[2] for r in rows)
    met = "yes" if cpu <= GOAL_S else "no"
    print(f"  memory snapshot, {size / 1e6:.0f} MB, {n:,} events: {wall:.2f} s, "
          f"{cpu:.2f} s of processor time {met}")
    with (HERE / "memory.csv").open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["bytes", "events", "seconds", "processor_seconds", "peak_bytes", "goal_seconds", "met"])
        out.writerow([size, n, f"{wall:.3f}", f"{cpu:.3f}", peak, GOAL_S, met])


if __name__ == "__main__":
    main()
