#!/usr/bin/env python3
"""pftrace.py: how fast .pftrace files are read, ours and Perfetto's trace_processor side by side.

Both read the same file, in turns; the best time of each counts. The file is an export of a real trace,
repeated in time (inputs.py). What is found is compared: our table with that of the JSON it was made of,
Perfetto's slices with our events. Writes pftrace.csv.

Our time is that of the whole process, from start to exit, with the table of operators on top; Perfetto's is
that of loading alone. Its WebAssembly build has 4 GB of memory: a trace of 1 GB (12 million events) is more
than it holds, and then only our time is given."""
import argparse
import csv
import json
import subprocess
import sys
import time
from pathlib import Path

import inputs

HERE = Path(__file__).parent
GOAL = 10


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
    begin = time.perf_counter()
    out = subprocess.check_output([strata, "table", "--json", trace])
    return time.perf_counter() - begin, out


def perfetto(assets, trace):
    """Seconds and slices, or None where it cannot load the trace."""
    done = subprocess.run(["node", HERE / "perfetto_walk.mjs", assets, trace], capture_output=True)
    if done.returncode:
        return None
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["slices"]


def compare(o):
    text, packed, events = make(o.strata, o.folder, o.trace, o.json_bytes)
    table = ours(o.strata, text)[1]
    mine, theirs = [], []
    for _ in range(o.rounds):
        seconds, found = ours(o.strata, packed)
        if found != table:
            sys.exit("pftrace.py: the table of the .pftrace is not that of the JSON")
        mine.append(seconds)
        loaded = perfetto(o.perfetto, packed)
        if loaded:
            theirs.append(loaded[0])
            if loaded[1] != events + 1:  # an instant holds the metadata
                sys.exit(f"pftrace.py: Perfetto has {loaded[1]} slices, we wrote {events}")
    return packed.stat().st_size, events, min(mine), min(theirs) if theirs else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--strata", default="build/src/strata")
    p.add_argument("--folder", type=Path, default=Path("build-bench"), help="for inputs")
    p.add_argument("--perfetto", type=Path, default=Path("build-bench/perfetto"), help="its wasm and glue")
    p.add_argument("--trace", default="tests/data/wan/wan_before_compile.json.gz", help="what is repeated")
    p.add_argument("--json-bytes", type=int, default=250_000_000, help="3,000,000,000 make 1 GB of .pftrace")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("-o", "--out", type=Path, default=HERE / "pftrace.csv")
    o = p.parse_args()
    size, events, mine, theirs = compare(o)
    rows = [["strata table", mine, ""], ["Perfetto trace_processor", theirs, GOAL]]
    print(f"pftrace: {size / 1e6:,.0f} MB, {events:,} events")
    with open(o.out, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["machine", "pftrace_bytes", "events", "tool", "seconds", "theirs_over_ours", "goal"])
        for tool, seconds, goal in rows:
            ratio = f"{seconds / mine:.1f}" if seconds else ""
            out.writerow([machine(), size, events, tool, f"{seconds:.3f}" if seconds else "", ratio, goal])
            print(f"  {tool:28}" + (f"{seconds:>10.3f} s {ratio:>8}x" if seconds else "cannot load it"))


main()
