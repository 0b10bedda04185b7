#!/usr/bin/env python3
"""pftrace.py: how fast .pftrace files are read, ours and Perfetto's trace_processor side by side.

Both read the same files, alternately; the best time of each counts. A file is an export of a real
trace, repeated in time (inputs.py). What is found is compared: our table with that of the JSON it
was made of, Perfetto's slices with our events. Writes pftrace.csv.

Our time is that of the whole process, from start to exit, with the table of operators on top;
Perfetto's is that of loading alone, by the build that loads it faster (perfetto.py). A trace of 1
GB only fits into its 64-bit build. Processor time is given beside the wall time: it is what to
compare where the machine has other work, and it counts all our threads and the one of Perfetto."""
import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import inputs
import perfetto

HERE = Path(__file__).parent
GOAL = 10
SLOW = 20  # seconds: a peer that takes longer runs once
MOST_32_BIT = 400_000_000  # bytes that the 32-bit build may hold


def machine():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return "unknown"


def make(strata, folder, source, json_bytes):
    """The JSON trace, its export, and how many events that has."""
    folder.mkdir(parents=True, exist_ok=True)
    text, packed = folder / f"pftrace_{json_bytes}.json", folder / f"pftrace_{json_bytes}.pftrace"
    if not text.exists():
        inputs.repeat(source, text, json_bytes)
    out = subprocess.check_output([strata, "export", "--json", text, "-o", packed])
    return text, packed, json.loads(out)["events"]


def ours(strata, trace):
    """Wall and processor seconds, and the table."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.check_output([strata, "table", "--json", trace])
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def theirs(folder, trace, events):
    """Wall and processor seconds by the name of the build."""
    best = {}
    for bits in (32, 64):
        if bits == 32 and trace.stat().st_size > MOST_32_BIT:
            continue
        found = perfetto.load(folder, trace, bits)
        if not found:
            continue
        if found["slices"] != events + 1:  # an instant holds the metadata
            sys.exit(f"pftrace.py: Perfetto has {found['slices']} slices, we wrote {events}")
        best[bits] = (found["seconds"], found["cpu_s"])
    return best


def least(pairs):
    """The best of both kinds of time, each for itself."""
    return tuple(min(column) for column in zip(*pairs))


def compare(o, json_bytes):
    text, packed, events = make(o.strata, o.folder, o.trace, json_bytes)
    table = ours(o.strata, text)[2]
    mine, peers = [], {}
    for _ in range(o.rounds):
        for _ in range(2):
            *seconds, found = ours(o.strata, packed)
            if found != table:
                sys.exit("pftrace.py: the table of the .pftrace is not that of the JSON")
            mine.append(seconds)
        if not peers or max(seconds for seen in peers.values() for seconds, _ in seen) < SLOW:
            for bits, seconds in theirs(o.folder, packed, events).items():
                peers.setdefault(bits, []).append(seconds)
    return packed.stat().st_size, events, least(mine), {bits: least(seen) for bits, seen in peers.items()}


def rows_of(size, events, mine, peers):
    yield [machine(), size, events, "strata table", *(f"{s:.3f}" for s in mine), "1.0", "1.0", ""]
    if not peers:
        yield [machine(), size, events, "Perfetto trace_processor", "", "", "", "", GOAL]
    for bits, seconds in peers.items():
        ratios = [f"{a / b:.1f}" for a, b in zip(seconds, mine)]
        yield [machine(), size, events, f"Perfetto trace_processor, {bits}-bit",
               *(f"{s:.3f}" for s in seconds), *ratios, GOAL]


def show(row):
    tool, wall, cpu, over_wall, over_cpu = row[3:8]
    print(f"  {tool:34}" + (f"{wall:>9} s {over_wall:>6}x   processor {cpu:>8} s {over_cpu:>6}x" if wall
                            else "not here, or it cannot load it"), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--strata", default="build/src/strata")
    p.add_argument("--folder", type=Path, default=Path("build-bench"), help="for inputs; holds the peers")
    p.add_argument("--trace", default="tests/data/wan/wan_before_compile.json.gz", help="what is repeated")
    p.add_argument("--json-bytes", type=int, nargs="+", default=[250_000_000, 3_080_000_000],
                   help="of JSON that the files are made of: 3,080,000,000 make 1 GB of .pftrace")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("-o", "--out", type=Path, default=HERE / "pftrace.csv")
    o = p.parse_args()
    rows = []
    for json_bytes in o.json_bytes:
        size, events, mine, peers = compare(o, json_bytes)
        print(f"pftrace: {size / 1e6:,.0f} MB, {events:,} events")
        for row in rows_of(size, events, mine, peers):
            rows.append(row)
            show(row)
    with open(o.out, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["machine", "pftrace_bytes", "events", "tool", "seconds", "processor_seconds",
                      "theirs_over_ours", "processor_theirs_over_ours", "goal"])
        out.writerows(rows)


main()
