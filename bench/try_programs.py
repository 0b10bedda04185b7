#!/usr/bin/env python3
"""What `strata try` predicts and measures for the programs of bench/try, and for others.

    bench/try_programs.py --build build [--time 120] [--out bench/try.csv] [PROGRAM[=FIX,FIX...]]...

A program is one of bench/try, or a file. Fixes are those that the report names, and those given. A
row per fix: program, unit, time before, predicted and measured change with its interval, verdict,
outputs. Programs take their turns one after the other: nothing else should run on the machine. """
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent / "try"
FIXES = {  # beside those that the report names
    "attn": "attention:flash,attention:efficient,no_empty_cache",
    "conv": "channels_last:net,cudnn_benchmark",
    "fp32": "tf32,bf16:encoder",
    "kitchen": "no_empty_cache,no_explicit_sync,pinned_uploads,attention:flash,channels_last:net,tf32,"
               "gc:freeze,cudnn_benchmark",
    "small": "graph:net,compile:net:reduce-overhead,compile:net",
    "train": "loader:8,fused_optimizer,foreach_optimizer",
}
KEYS = ("program", "unit", "before_ms", "fix", "predicted_pct", "measured_pct", "low_pct", "high_pct",
        "verdict", "outputs", "set_up_s", "failure")


def tried(args, name, fixes):
    """The result of `strata try` as JSON, or None."""
    path = Path(name) if os.path.exists(name) else HERE / f"{name}.py"
    strata = str(args.build / "src" / "strata")
    command = [strata, "try", "--json", "--time", str(args.time), "--fix", "report"]
    for fix in filter(None, fixes.split(",")):
        command += ["--fix", fix]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (
        str(args.build.resolve() / "python"), os.environ.get("PYTHONPATH"))))}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, "--dir", folder, "--", sys.executable, str(path.resolve())],
                              stdout=subprocess.PIPE, stderr=None, text=True, env=env, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def rows_of(name, found):
    for f in [*found["fixes"], *found["combinations"]]:
        m, predicted = f["measured"] or {}, f["predicted_pct"]
        yield dict(zip(KEYS, (
            name, found["unit"]["words"], f.get("before_ms"), f["fix"],
            None if predicted is None else -predicted, m.get("change_pct"), m.get("low_pct"),
            m.get("high_pct"), m.get("verdict"), f["outputs"]["verdict"], f["set_up"]["seconds"],
            (f["failure"] or {}).get("reason"))))


def shown(value):
    return round(value, 2) if isinstance(value, float) else "" if value is None else value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=list(FIXES), metavar="PROGRAM[=FIX,FIX...]")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--time", type=int, default=120, help="seconds for each")
    parser.add_argument("--out", type=Path, help="append to this CSV")
    args = parser.parse_args()
    for word in args.programs:
        name, _, fixes = word.partition("=")
        found = tried(args, name, fixes or FIXES.get(name, ""))
        if found is None:
            print(f"{name}: no result", file=sys.stderr)
            continue
        print(Path(name).stem, *found["notes"], *(f"not tried: {x}" for x in found["not_tried"]), sep="\n  ")
        for row in rows_of(Path(name).stem, found):
            print("  ", *(shown(v) for v in row.values()), sep=" | ", flush=True)
            if args.out:
                with args.out.open("a", newline="") as f:
                    csv.writer(f).writerows(([KEYS] if f.tell() == 0 else []) + [map(shown, row.values())])


if __name__ == "__main__":
    main()
