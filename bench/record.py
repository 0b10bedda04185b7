#!/usr/bin/env python3
"""record.py: what recording costs the program that is recorded: a range in C, a stage in Python,
each beside what it replaces, in one run on one machine. Writes record.csv.

Goals: in C 40 ns per range when on and 1 ns when off; in Python a stage 20 times cheaper than
torch.profiler.record_function, and a function decorated while strata is off the function itself; the
command starts within 5 ms."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent


def run(command, **env):
    """The JSON object a program prints."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("STRATA")}
    done = subprocess.run(list(map(str, command)), env=clean | env, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def measure_c(build, scratch):
    program = scratch / "record_c"
    library = build / "src" / "record"
    subprocess.run(["cc", "-O2", "-I", HERE.parent / "include", "-o", program, HERE / "record_c.c",
                    "-L", library, "-lstrata_record", f"-Wl,-rpath,{library.resolve()}"], check=True)
    runs = [run([program, scratch / f"c{i}"]) for i in range(3)]
    return {key: min(r[key] for r in runs) for key in runs[0]}


def measure_python(python, build, scratch, **env):
    return run([python, HERE / "record_stages.py"], PYTHONPATH=str((build / "python").resolve()),
               STRATA_OUT=str(scratch), STRATA_TABLE="off", **env)


def measure_start(strata):
    """Nanoseconds from asking for the command to its end, the best of some."""
    def once():
        began = time.perf_counter_ns()
        subprocess.run([strata, "--version"], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter_ns() - began
    return min(once() for _ in range(30))


def rows(c, on, off, start):
    """(what, nanoseconds, beside what, its nanoseconds, goal in words, met)"""
    ratio = on["record_function_on"] / on["stage"]
    yield "C range, on", c["on_ns"], "", None, "<= 40 ns", c["on_ns"] <= 40
    yield "C range, on, files included", c["on_mean_ns"], "", None, "", True
    yield "C range, on, name looked up", c["on_looked_up_ns"], "", None, "", True
    yield "C range, off", c["off_ns"], "", None, "<= 1 ns", c["off_ns"] <= 1
    yield ("Python with stage", on["stage"], "record_function under a profiler",
           on["record_function_on"], ">= 20x", ratio >= 20)
    yield ("Python with stage", on["stage"], "record_function without a profiler",
           on["record_function_off"], "", True)
    yield ("Python stage kept in a variable", on["stage_held"], "record_function under a profiler",
           on["record_function_on"], "", True)
    yield ("Python decorated, STRATA=off", off["decorated_off"], "the bare function", off["bare"],
           "the same function", off["same_function"])
    yield "Python with stage, STRATA=off", off["stage_off"], "", None, "", True
    yield "strata --version, start to end", start, "", None, "<= 5 ms", start <= 5e6


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, default=Path("build"))
    p.add_argument("--python", default=sys.executable, help="one that has torch")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        c = measure_c(o.build, folder)
        on = measure_python(o.python, o.build, folder)
        off = measure_python(o.python, o.build, folder, STRATA="off")
    print(f"\nrecording, torch {on['torch']}, best of many short rounds")
    table = []
    for what, ns, beside, other, goal, met in rows(c, on, off, measure_start(o.build / "src" / "strata")):
        theirs = f"{other:9,.0f} ns  {beside}, {other / ns:.1f}x" if other else ""
        print(f"  {what:33}{ns:12,.2f} ns  {theirs}{'   goal ' + goal if goal else ''}"
              f"{'' if met else '  MISSED'}")
        table.append({"what": what, "ns": f"{ns:.2f}", "beside": beside,
                      "beside_ns": f"{other:.1f}" if other else "",
                      "theirs_over_ours": f"{other / ns:.2f}" if other else "", "goal": goal,
                      "met": "yes" if met else "no"})
    with open(HERE / "record.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, fieldnames=list(table[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(table)


main()
