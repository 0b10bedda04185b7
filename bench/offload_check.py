#!/usr/bin/env python3
"""Predictions of `strata offload` beside what bench/offload_lab.py measured.

    python3 bench/offload_check.py OUT [--strata PATH]

Prints one line a run: measured total of four steps without a profiler, predicted, how far off.
Exits 1 when one is further off than its tolerance."""
import argparse
import json
import subprocess
import sys
from pathlib import Path


def predict(strata, trace, out, resident=0):
    command = [strata, "offload", trace, "--calibration", out / "rates.json", "--json",
               "--resident", str(int(resident) + 1)]
    found = subprocess.run(command, capture_output=True, check=True)
    return json.loads(found.stdout)["predictions"]


def pick(rows, policy, host):
    return next(r for r in rows if r["policy"] == policy and r["host_memory"] == host)


def leaves(strata, out, truth):
    """Every policy from the trace in which everything is streamed from the same memory."""
    for name, run in truth.items():
        if run["trace"] != "leaves":
            continue
        host = run["host_memory"]
        rows = predict(strata, out / f"leaves_{host}.json.gz", out, run.get("resident_bytes", 0))
        got = pick(rows, run["policy"], host)
        yield name, f"leaves_{host}", run["total_ms"], got["total_ms"], 8


def flux(strata, out, truth):
    """Steady steps, four of them: what every way would take, from the sequential run and from its
    own trace."""
    asked = [("flux_sequential", "flux_sequential", "stream_all", "pageable"),
             ("flux_group_leaf", "flux_sequential", "prefetch", "pinned"),
             ("flux_group_block", "flux_sequential", "prefetch_block", "pinned"),
             ("flux_resident", "flux_sequential", "preloaded", "pageable"),
             ("flux_group_leaf", "flux_group_leaf", "stream_all", "pinned"),
             ("flux_resident", "flux_group_leaf", "preloaded", "pinned"),
             ("flux_group_block", "flux_group_block", "stream_all", "pinned"),
             ("flux_resident", "flux_group_block", "preloaded", "pinned")]
    for name, source, policy, host in asked:
        trace = out / f"{source}.json.gz"
        if name in truth and trace.exists():
            got = pick(predict(strata, trace, out), policy, host)
            yield name, source, 4 * truth[name]["step_ms"], 4 * got["step_ms"], 10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--strata", default="build/src/strata")
    args = parser.parse_args()
    truth = json.loads((args.out / "truth.json").read_text())
    far = 0
    print(f"{'run':28} {'predicted from':18} {'measured':>10} {'predicted':>10} {'off':>8}")
    for part in (leaves, flux):
        for name, source, measured, predicted, most in part(args.strata, args.out, truth):
            off = 100 * (predicted / measured - 1)
            far += abs(off) > most
            print(f"{name:28} {source:18} {measured:7.1f} ms {predicted:7.1f} ms {off:+6.1f} %"
                  f"{'  over ' + str(most) + ' %' if abs(off) > most else ''}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
