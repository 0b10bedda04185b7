#!/usr/bin/env python3
"""What the Python side of a capture costs: a walk, a sample, an operator, a second of sampling.

    STRATA_BUILD=build bench/python_side.py [-o bench/python_side.csv]

Everything in one process, alternately, medians of several; torch is optional."""
from __future__ import annotations

import argparse
import csv
import ctypes
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

ROUNDS = 7


def load(folder: str) -> ctypes.PyDLL:
    build = os.environ.get("STRATA_BUILD", "build")
    probe = ctypes.PyDLL(os.path.abspath(os.path.join(build, "tests", "pyprobe.so")))
    probe.probe_walk_ns.restype = probe.probe_sample_ns.restype = ctypes.c_double
    probe.probe_init.restype = probe.probe_trouble.restype = ctypes.c_char_p
    assert probe.probe_start(folder.encode()) == 0
    assert not probe.probe_init(), probe.probe_init()
    return probe


def deep(n: int, fn: Callable[[], float]) -> float:
    return deep(n - 1, fn) if n else fn()


def walks(probe: ctypes.PyDLL) -> list[tuple[str, float, str]]:
    rows = []
    for depth in (1, 8, 30, 100):
        walk = min(deep(depth, lambda: probe.probe_walk_ns(20000)) for _ in range(ROUNDS))
        sample = min(deep(depth, lambda: probe.probe_sample_ns(2000)) for _ in range(ROUNDS))
        rows += [(f"walk, {depth} frames", walk, "ns"), (f"read from outside, {depth} frames", sample, "ns")]
    return rows


def busy() -> float:
    begin = time.thread_time()
    total = 0
    for i in range(300_000):
        total += i * i
    return time.thread_time() - begin


def sampling(probe: ctypes.PyDLL) -> list[tuple[str, float, str]]:
    """CPU time of the sampled thread for the same work, on and off alternately."""
    on, off = [], []
    for _ in range(4 * ROUNDS):
        probe.probe_side(1000, 0)
        on.append(deep(25, busy))
        probe.probe_stop()
        off.append(deep(25, busy))
    added = min(on) / min(off) - 1  # a shared machine only adds
    noise = statistics.median(off) / min(off) - 1
    name = "sampling at 1 kHz, Python loop without launches"
    return [(name, 100 * added, "% of its CPU time"),
            ("the same loop without sampling, median over best", 100 * noise, "% of its CPU time")]


def operators(probe: ctypes.PyDLL) -> list[tuple[str, float, str]]:
    try:
        import torch
    except ImportError:
        return []
    torch.set_num_threads(1)
    z = torch.zeros(8)

    def loop() -> float:
        begin = time.perf_counter()
        for _ in range(20000):
            z.add_(1)
        return (time.perf_counter() - begin) / 20000 * 1e9

    loop()
    plain = statistics.median(loop() for _ in range(ROUNDS))
    on, off = [], []
    for _ in range(ROUNDS):
        probe.probe_side(0, 2)
        on.append(loop())
        probe.probe_stop()
        off.append(loop())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        theirs = statistics.median(loop() for _ in range(3))
    return [("add_, nothing installed", plain, "ns"),
            ("add_, installed and off", statistics.median(off), "ns"),
            ("add_, recorded", statistics.median(on), "ns"),
            ("add_, under torch.profiler", theirs, "ns")]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("-o", "--output", help="write the rows here as CSV")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        probe = load(folder)
        rows = walks(probe) + operators(probe) + sampling(probe)
    for name, value, unit in rows:
        print(f"{name:50} {value:10.1f} {unit}")
    if args.output:
        with open(args.output, "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f)
            out.writerow(["what", "value", "unit", "python"])
            out.writerows((name, f"{value:.1f}", unit, sys.version.split()[0]) for name, value, unit in rows)


if __name__ == "__main__":
    main()
