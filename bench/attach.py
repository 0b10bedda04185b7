#!/usr/bin/env python3
"""Enters programs that were not started with Strata, again and again: for how long a thread is held, and
whether all of them go on.

    bench/attach.py --build build [--times 50] [--pythons PYTHON...] [--out bench/attach.csv]

A Python program per interpreter, a C program, and one of 64 threads under load, each a new process every
time; and the same with `strata` killed at a random moment. A row per program: entered, refused, lost
(the program has ended, does not go on or is traced), and how long a thread was held. """
import argparse
import csv
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LOOP = """
def inner():
    return sum(range(3000))
print("ready", flush=True)
while True:
    inner()
"""
COLUMNS = ["program", "times", "entered", "refused", "lost", "held_ms_median", "held_ms_most"]
HELD = re.compile(r"was held for ([0-9.]+) ms")
GOES_ON_S = 20


def goes_on(pid):
    """Neither stopped nor traced in any thread, and taking processor time."""
    def ticks():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            try:
                status = (task / "status").read_text()
            except OSError:
                continue  # a thread that has ended since
            if not re.search(r"^TracerPid:\t0$", status, re.M) or re.search(r"^State:\t[tT]", status, re.M):
                return False
        before, until = ticks(), time.monotonic() + GOES_ON_S
        while ticks() == before and time.monotonic() < until:
            time.sleep(0.02)
        return ticks() > before
    except OSError:
        return False


def once(strata, command, folder, kill):
    """What strata said, its exit status (None: killed), and whether the program goes on."""
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    program.stdout.readline()
    ask = [strata, "record", str(program.pid), "--for", "100ms", "--quiet"]
    env = {**os.environ, "STRATA_OUT": str(folder)}
    asking = subprocess.Popen(ask, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    status = said = None
    if kill:
        time.sleep(random.uniform(0, 0.1))
        asking.kill()
        asking.communicate()
    else:
        said = asking.communicate(timeout=120)[1]
        status = asking.returncode
    well = goes_on(program.pid)
    program.kill()
    program.wait()
    shutil.rmtree(folder, ignore_errors=True)
    return said, status, well


def measured(strata, name, command, times, folder, kill=False):
    held, entered, refused, lost = [], 0, 0, 0
    for _ in range(times):
        said, status, well = once(strata, command, folder / "out", kill)
        lost += not well
        if kill:
            continue
        entered, refused = entered + (status == 0), refused + (status != 0)
        held += [float(ms) for ms in HELD.findall(said)]
    median, most = (round(statistics.median(held), 2), max(held)) if held else ("", "")
    return [name + (", strata killed" if kill else ""), times, "" if kill else entered,
            "" if kill else refused, lost, median, most]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--pythons", nargs="*", default=[sys.executable])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    build = args.build.resolve()
    strata, threads = str(build / "src" / "strata"), str(build / "tests" / "capture" / "capture_threads")
    rows = []
    with tempfile.TemporaryDirectory(prefix="attach_") as folder:
        script = Path(folder) / "loop.py"
        script.write_text(LOOP)
        programs = {"CPython " + subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:3], sep='.')"], capture_output=True,
            text=True, check=True).stdout.strip(): [python, str(script)] for python in args.pythons}
        programs |= {"a C program": [threads, "0"], "a C program of 64 threads": [threads, "63"]}
        for name, command in programs.items():
            for kill in (False, True):
                rows.append(measured(strata, name, command, args.times, Path(folder), kill))
                print(*rows[-1], sep="  ", flush=True)
    if args.out:
        with args.out.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([COLUMNS, *rows])
    return 1 if any(row[4] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
