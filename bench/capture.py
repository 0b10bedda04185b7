#!/usr/bin/env python3
"""What recording a timeline costs, on a machine with an NVIDIA GPU and torch; checks what it times.

    bench/capture.py --build build [--out bench/capture.csv]

In one process: a launch-bound loop with recording paused and on alternately, then, with the place
given up, without and under torch.profiler alternately, whose trace must hold device events to
count. What is added is computed from the loops just before and after. In others: a program that is
killed, whose last records show what was lost; and the kernels of a workload with a CUDA graph, by
name, compared with torch.profiler's. """
import argparse
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LEVELS = """
import ctypes, os, statistics, time, torch
library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
a, b = (torch.randn(64, 64, device="cuda", dtype=torch.bfloat16) for _ in range(2))

def loop(n=1500):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(n):
        c = a @ b
        c = c + a
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / (2 * n) * 1e6

def warm_loop():
    loop(100)
    return loop()

def between(rounds, measure):
    before = warm_loop()
    for _ in range(rounds):
        name, taken = measure()
        after = warm_loop()
        print(name, taken, (before + after) / 2)
        before = after

def ours():
    library.strata_inject_pause(0)
    taken = warm_loop()
    library.strata_inject_pause(1)
    return "capture", taken

def torch_profiler():
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds, acc_events=True) as profiler:
        taken = statistics.median([warm_loop() for _ in range(3)])
    events = profiler.profiler.kineto_results.events()
    seen = sum("CUDA" in str(e.device_type()) for e in events)
    return "torch.profiler" if seen > 9000 else "torch.profiler without a device", taken

for _ in range(10):
    loop()
library.strata_inject_pause(1)
between(31, ours)
library.strata_inject_stop()
between(15, torch_profiler)
"""

MIX = """
import sys, torch
def mix():
    a = torch.randn(64, 64, device="cuda")
    for _ in range(200):
        a = (a @ a).clamp(-1, 1)
    a.sum().item()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        b = torch.softmax(a, -1) + 1
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
mix()
if sys.argv[1:]:
    with torch.profiler.profile() as profiler:
        mix()
    profiler.export_chrome_trace(sys.argv[1])
else:
    mix()
"""

LOOP = """
import time, torch
a = torch.randn(64, 64, device="cuda")
while True:
    a @ a
"""


class Bench:
    """Rows of the CSV, and how to run things."""

    def __init__(self, build):
        self.strata = str(build / "src" / "strata")
        self.library = str(build / "python" / "strata" / "libstrata_inject.so")
        self.rows = []

    def add(self, what, value, unit, goal="", met=""):
        self.rows.append([what, value, unit, goal, met])
        print(f"{what}: {value} {unit}  {goal} {met}")

    def python(self, text, *args, run=None, **env):
        env = {**os.environ, **env}
        if run:
            env.update(CUDA_INJECTION64_PATH=self.library, STRATA_RUN=str(run))
        return subprocess.Popen([sys.executable, "-c", text, *args], env=env, text=True,
                                stdout=subprocess.PIPE)

    def ask(self, command, trace, *options):
        return json.loads(subprocess.run([self.strata, command, str(trace), "--json", *options],
                                         check=True, capture_output=True, text=True).stdout)


def levels(bench, folder, ops):
    out, _ = bench.python(LEVELS, run=folder / f"levels_{ops}", STRATA_OPS=ops).communicate()
    added, plain = {}, []
    for line in out.splitlines():
        name, taken, without = line.rsplit(" ", 2)
        added.setdefault(name, []).append(float(taken) - float(without))
        plain.append(float(without))
    none, ours = statistics.median(plain), statistics.median(added["capture"])
    bench.add(f"launch, {ops} ranges: without", round(none, 2), "us")
    bench.add(f"launch, {ops} ranges: added", round(ours, 2), "us")
    bench.add(f"launch, {ops} ranges: ratio", round(1 + ours / none, 3), "", "<= 1.15",
              "yes" if ours <= 0.15 * none else "no")
    if "torch.profiler" in added:
        theirs = statistics.median(added["torch.profiler"])
        most = 1 / 3 if ops == "user" else 1 / 2
        bench.add(f"launch, {ops} ranges: added by torch.profiler", round(theirs, 2), "us")
        bench.add(f"launch, {ops} ranges: of what torch.profiler adds", round(ours / theirs, 3), "",
                  f"<= {most:.2f}", "yes" if ours <= most * theirs else "no")


def counts(bench, folder):
    bench.python(MIX, run=folder / "mix").communicate()
    bench.python(MIX, str(folder / "mix.json")).communicate()
    ours, theirs = ({r["name"]: r["calls"]
                     for r in bench.ask("kernels", folder / name, "--whole")["rows"]}
                    for name in ("mix", "mix.json"))
    equal = ours == {name: 2 * n for name, n in theirs.items()}
    unlinked = bench.ask("info", folder / "mix")["device_work_without_launch"]
    bench.add("kernels as torch.profiler counts them", sum(theirs.values()), "", "all", equal)
    bench.add("work without a launch", unlinked, "", "0", unlinked == 0)
    assert equal and not unlinked


def killed(bench, folder):
    child = bench.python(LOOP, run=folder / "killed")
    time.sleep(8)
    now = time.clock_gettime_ns(time.CLOCK_REALTIME)
    child.send_signal(signal.SIGKILL)
    child.wait()
    trace = folder / "killed.json"
    subprocess.run([bench.strata, "export", str(folder / "killed"), "-o", str(trace)], check=True,
                   capture_output=True)
    found = json.loads(trace.read_text())
    last = max(e["ts"] + e["dur"] for e in found["traceEvents"] if e.get("cat") == "kernel")
    lost_ms = (now - found.get("baseTimeNanoseconds", 0)) / 1e6 - last / 1e3
    bench.add("kill -9: GPU records lost", round(lost_ms, 1), "ms", "<= 250", lost_ms <= 250)
    assert lost_ms <= 250


def machine():
    done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], check=False,
                          capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.stdout else "no GPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    bench = Bench(options.build.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for ops in ("user", "all"):
            levels(bench, folder, ops)
        counts(bench, folder)
        killed(bench, folder)
    if options.out:
        with options.out.open("w", newline="") as f:
            out = csv.writer(f)
            out.writerow(["machine", "run", "what", "value", "unit", "goal", "met"])
            out.writerows([machine(), 1, *row] for row in bench.rows)


if __name__ == "__main__":
    main()
