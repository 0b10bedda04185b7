#!/usr/bin/env python3
"""mcp.py: how long `strata mcp` takes to answer, about a trace that is opened and one that is open.

    bench/mcp.py --strata BINARY [--trace FILE]

Every tool is called three times on the trace: the first call of all opens it, the first of a tool
computes what it needs, the others find it. Goal: 50 ms for an answer about an open trace that was
asked before. The figures go to mcp.csv."""
import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import inputs

HERE = Path(__file__).parent
GOAL_MS = 50
CALLS = [("report", {}), ("gaps", {}), ("syncs", {}), ("kernels", {}), ("table", {}), ("stages", {}),
         ("steps", {}), ("whatif", {"drop_sync": "1"}), ("evidence", {"finding": 1}),
         ("evidence", {"row": 100000}), ("sql", {"query": "SELECT * FROM events WHERE row = 100000"})]


class Server:
    def __init__(self, strata, folder):
        self.process = subprocess.Popen([strata, "mcp", folder], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.n = 0

    def call(self, tool, arguments):
        """Milliseconds, and bytes of the answer."""
        self.n += 1
        params = {"name": tool, "arguments": arguments}
        line = json.dumps({"jsonrpc": "2.0", "id": self.n, "method": "tools/call", "params": params})
        began = time.perf_counter()
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())["result"]
        ms = (time.perf_counter() - began) * 1e3
        if answer["isError"]:
            sys.exit(f"{tool}: {answer['content'][0]['text']}")
        return ms, len(answer["content"][0]["text"])

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(strata, trace):
    server = Server(strata, str(trace.parent))
    yield "open and report", server.call("report", {"trace": trace.name}), None
    for tool, arguments in CALLS:
        what = tool + "".join(f" {k}" for k in arguments)
        times = [server.call(tool, {"trace": trace.name, **arguments}) for _ in range(3)]
        yield f"{what}, first", times[0], None
        yield f"{what}, again", min(times[1:]), GOAL_MS
    server.end()


def machine():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return platform.machine()


def made_trace():
    folder = HERE / "data"
    folder.mkdir(exist_ok=True)
    path = folder / "mcp_1gb.json"
    if not path.exists():
        inputs.repeat(HERE.parent / "tests/data/wan/wan_before_compile.json.gz", path, 1 << 30)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strata", required=True)
    parser.add_argument("--trace", type=Path, help="default: a trace of 1 GB, made as for run.py")
    args = parser.parse_args()
    trace = (args.trace or made_trace()).resolve()
    rows = []
    for what, (ms, size), goal in measure(args.strata, trace):
        met = "" if goal is None else "yes" if ms <= goal else "no"
        print(f"  {what:24} {ms:9.1f} ms {size:7,} bytes {met}")
        rows.append([machine(), trace.stat().st_size,
                     what, f"{ms:.2f}", size, "" if goal is None else goal, met])
    with (HERE / "mcp.csv").open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["machine", "trace_bytes", "what", "ms", "answer_bytes", "goal_ms", "met"])
        out.writerows(rows)


if __name__ == "__main__":
    main()
