#!/usr/bin/env python3
"""Predictions of `strata offload` beside what bench/offload_lab.py measured.

    python3 bench/offload_check.py OUT [--strata PATH] [--csv FILE]

One line a run: what was measured without a profiler (fastest to slowest run, in ms), what was
predicted from which trace, how far that is from the median. Totals of four steps; of diffusers' ways
four steady steps. Exits 1 when one is further off than its tolerance. Estimates (no streamed trace,
only sizes and calibrated rates) have none."""
import argparse
import csv
import json
import statistics
import subprocess
import sys
from pathlib import Path

STEPS = 4


def steady(run):
    """Of each run: as many steady steps, the first one left out."""
    return [STEPS * statistics.median(r[1:]) for r in run["runs_ms"]]


class Check:
    def __init__(self, strata, out):
        self.strata, self.out = strata, out
        self.truth = json.loads((out / "truth.json").read_text())
        self.known = {}

    def rows(self, trace, *options):
        key = (trace, *options)
        if key not in self.known:
            command = [self.strata, "offload", self.out / trace, "--json", "--calibration",
                       self.out / "rates.json", *options]
            found = subprocess.run(command, capture_output=True, check=True)
            self.known[key] = json.loads(found.stdout)["predictions"]
        return self.known[key]

    def pick(self, trace, policy, host, *options):
        return next(r for r in self.rows(trace, *options)
                    if r["policy"] == policy and r["host_memory"] == host)

    def leaves(self):
        """Every policy from the trace in which everything is streamed from the same memory."""
        for name, run in self.truth.items():
            if run["trace"] != "leaves":
                continue
            host = run["host_memory"]
            trace = f"leaves_{host}.json.gz"
            options = ["--resident", str(int(run.get("resident_bytes", 0)) + 1),
                       "--prefetch", str(run.get("depth", 1))]
            got = self.pick(trace, run["policy"], host, *options)
            if run.get("steady"):
                yield name, trace, steady(run), STEPS * got["step_ms"], 10
            else:
                yield name, trace, run["totals_ms"], got["total_ms"], 8

    def transformer(self, model):
        """Every way from the trace of every other, and from sizes and rates alone."""
        policy = {("pageable", "sequential"): "stream_all", ("pinned", "group_leaf"): "prefetch",
                  ("pinned", "group_block"): "prefetch_block"}
        for source in ("sequential", "group_leaf", "group_block"):
            trace = f"{model}_{source}.json.gz"
            if not (self.out / trace).exists():
                continue
            now = "pageable" if source == "sequential" else "pinned"
            asked = [(source, "stream_all", now), ("resident", "preloaded", now)]
            if source == "sequential":
                asked += [(way, p, host) for (host, way), p in policy.items() if way != source]
                asked += [("model", "model_offload", "pageable")]
            groups = self.out / f"{model}_group_block.modules.json"
            options = ["--modules", str(groups)] if groups.exists() else []
            for way, what, host in asked:
                if f"{model}_{way}" in self.truth:
                    got = self.pick(trace, what, host, *options)
                    yield self.way(model, way, trace, got, 10)
        trace = f"{model}_resident.json.gz"
        for (host, way), what in policy.items():
            modules = self.out / f"{model}_{way}.modules.json"
            if modules.exists() and (self.out / trace).exists():
                got = self.pick(trace, what, host, "--modules", str(modules))
                yield self.way(model, way, trace, got, None)

    def way(self, model, way, trace, got, most):
        run = self.truth[f"{model}_{way}"]
        if way == "model":
            return f"{model}_{way}", trace, run["totals_ms"], got["total_ms"], most
        return f"{model}_{way}", trace, steady(run), STEPS * got["step_ms"], most

    def all(self):
        yield from self.leaves()
        for model in sorted({r["trace"] for r in self.truth.values()} - {"leaves"}):
            yield from self.transformer(model)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--strata", default="build/src/strata")
    parser.add_argument("--csv", type=Path, help="also write the lines here")
    args = parser.parse_args()
    far, lines = 0, []
    print(f"{'run':28} {'predicted from':16} {'measured':>18} {'predicted':>10} {'off':>8}")
    for name, trace, runs, predicted, most in Check(args.strata, args.out).all():
        measured = statistics.median(runs)
        off = 100 * (predicted / measured - 1)
        over = most is not None and abs(off) > most
        far += over
        source = trace.split(".")[0]
        note = f"  over {most} %" if over else "" if most else "  estimate"
        span = f"{min(runs):.1f} to {max(runs):.1f}"
        print(f"{name:28} {source:16} {span:>18} {predicted:10.1f} {off:+6.1f} %{note}")
        lines.append([name, source, round(min(runs), 1), round(measured, 1), round(max(runs), 1),
                      round(predicted, 1), round(off, 1)])
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as f:
            csv.writer(f, lineterminator="\n").writerows(
                [["run", "predicted_from", "fastest_ms", "measured_ms", "slowest_ms", "predicted_ms",
                  "off_pct"], *lines])
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
