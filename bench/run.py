#!/usr/bin/env python3
"""run.py: how fast traces are read, ours and others side by side.

All tools run on the same file, alternately, round after round; the best time of each counts. What
they found is compared: the number of events and the time the device worked. Writes results.csv.

The time of `strata table` is that of the whole process, from start to exit. The other tools are
given more: their time is that of parsing alone, without starting up or, for simdjson, reading the
file into memory."""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import inputs
import perfetto

HERE = Path(__file__).parent
SIZES = {"60 MB": 50_000_000, "1 GB": 1_000_000_000}
SLOW = 20  # seconds: a tool that takes longer runs once


def peers(folder):
    """Name, command for a trace, whether it reads gzip, and what its time over ours should be."""
    venv = str(folder / "venv/bin/python")
    walk = str(HERE / "python_walk.py")
    yield "simdjson On-Demand, 1 thread", [str(folder / "simdjson_walk")], False, 1 / 0.67
    yield "orjson", [venv, walk, "orjson"], False, None
    yield "Python json", [venv, walk, "json"], False, 15
    yield "Perfetto trace_processor", perfetto.command(folder), False, 12
    yield "HolisticTraceAnalysis", [venv, walk, "hta"], False, 50
    yield "gzip -dc", ["gzip", "-dc"], True, 1 / 0.45


class Result:
    def __init__(self, name, goal):
        self.name, self.goal = name, goal
        self.seconds = None
        self.anonymous = None  # peak bytes
        self.found = {}
        self.why_not = None

    def add(self, seconds, found):
        self.seconds = min(self.seconds or seconds, seconds)
        self.found = found


def run_peer(result, command, trace, prints):
    """Peers that print one JSON object tell their own time; the others are timed from outside."""
    out = subprocess.PIPE if prints else subprocess.DEVNULL
    begin = time.perf_counter()
    try:
        done = subprocess.run(command + [str(trace)], stdout=out, stderr=subprocess.PIPE)
    except OSError as e:
        result.why_not = f"not here: {e.strerror}"
        return
    seconds = time.perf_counter() - begin
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        result.why_not = lines[-1][:60] if lines else f"exit {done.returncode}"
        return
    found = json.loads(done.stdout.splitlines()[-1]) if prints else {}
    result.add(found.get("seconds", seconds), found)


def run_strata(result, strata, trace):
    begin = time.perf_counter()
    out = subprocess.check_output([strata, "table", "--json", str(trace)])
    seconds = time.perf_counter() - begin
    result.add(seconds, {"device_us": json.loads(out)["totals"]["self_device_us"]})


def watch_memory(result, strata, trace):
    """The most anonymous memory it ever has, looked up every few milliseconds."""
    child = subprocess.Popen([strata, "table", "--json", str(trace)], stdout=subprocess.DEVNULL)
    while child.poll() is None:
        try:
            found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{child.pid}/status").read_text())
        except OSError:
            break
        if found:
            result.anonymous = max(result.anonymous or 0, int(found[1]) * 1024)
        time.sleep(0.002)
    child.wait()


def count_events(strata, trace):
    return json.loads(subprocess.check_output([strata, "info", "--json", str(trace)]))["events"]


def bench_file(strata, folder, trace, packed, rounds):
    ours = Result("strata table", None)
    others = [(Result(name, goal), command) for name, command, gz, goal in peers(folder) if gz == packed]
    for _ in range(rounds):
        run_strata(ours, strata, trace)
        for result, command in others:
            if result.why_not or (result.seconds or 0) > SLOW:
                continue
            run_peer(result, command, trace, not packed)
    for _ in range(3):
        watch_memory(ours, strata, trace)
    return ours, [r for r, _ in others]


def agree(ours, others, events):
    """Complains about every tool that found something else than we did."""
    wrong = []
    for r in others:
        if r.found.get("events", events) != events:
            wrong.append(f"{r.name}: {r.found['events']} events, ours {events}")
        device_us = r.found.get("device_us", ours.found["device_us"])
        if abs(device_us - ours.found["device_us"]) > 1e-6 * device_us:
            wrong.append(f"{r.name}: device {device_us} us, ours {ours.found['device_us']}")
    return wrong


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{cpu[1] if cpu else 'unknown'}, {len(os.sched_getaffinity(0))} cores"


def report(label, plain_bytes, events, ours, others):
    print(f"\n{label}: {plain_bytes / 1e6:,.0f} MB of JSON, {events:,} events")
    print(f"  {'':32}{'seconds':>10}{'theirs/ours':>13}{'goal':>8}")
    print(f"  {ours.name:32}{ours.seconds:>10.3f}     peak anonymous memory {ours.anonymous / 1e6:,.0f} MB,"
          f" {ours.anonymous / plain_bytes:.2f}x the JSON")
    for r in others:
        if r.seconds is None:
            print(f"  {r.name:32}{'-':>10}  ({r.why_not})")
            continue
        goal = f">= {r.goal:.1f}" if r.goal else ""
        missed = " MISSED" if r.goal and r.seconds / ours.seconds < r.goal else ""
        print(f"  {r.name:32}{r.seconds:>10.3f}{r.seconds / ours.seconds:>12.1f}x{goal:>8}{missed}")


def rows(label, plain_bytes, events, ours, others):
    for r in [ours] + others:
        yield {
            "machine": machine(), "input": label, "json_bytes": plain_bytes, "events": events, "tool": r.name,
            "seconds": f"{r.seconds:.4f}" if r.seconds else "",
            "theirs_over_ours": f"{r.seconds / ours.seconds:.2f}" if r.seconds else "",
            "goal": f"{r.goal:.2f}" if r.goal else "",
            "peak_anonymous_over_json": f"{r.anonymous / plain_bytes:.3f}" if r.anonymous else "",
        }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--strata", default="build/src/strata")
    p.add_argument("--folder", type=Path, default=Path("build-bench"), help="for inputs and peers")
    p.add_argument("--trace", default="tests/data/wan/wan_before_compile.json.gz", help="what is repeated")
    p.add_argument("--sizes", default=",".join(SIZES), help="of " + ", ".join(SIZES))
    p.add_argument("--rounds", type=int, default=5)
    o = p.parse_args()
    print(f"bench: {machine()}, best of {o.rounds} rounds")
    table, wrong = [], []
    for size in o.sizes.split(","):
        files = inputs.make(o.trace, o.folder, size.replace(" ", ""), SIZES[size])
        plain_bytes, events = files[0].stat().st_size, count_events(o.strata, files[0])
        for trace, packed in zip(files, (False, True)):
            ours, others = bench_file(o.strata, o.folder, trace, packed, o.rounds)
            label = size + (" gz" if packed else "")
            wrong += agree(ours, others, events)
            report(label, plain_bytes, events, ours, others)
            table += rows(label, plain_bytes, events, ours, others)
    with open(HERE / "results.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, fieldnames=list(table[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(table)
    sys.exit("\n".join(["bench: results differ:"] + wrong) if wrong else 0)


main()
