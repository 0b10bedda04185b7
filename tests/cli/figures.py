#!/usr/bin/env python3
"""figures.py COMMAND TRACE...: everything that a command computes of some traces, one line per key.

The command runs with --json on each trace; the values of a key are put together, whatever list and
trace they are from:

    causes[].idle_us: 41 numbers, sum 1234.5, 5a3f

The last word is a checksum of the values in their order. So a result that changes anywhere shows
under which key and by how much, in a golden that is short enough to read; the same on one trace then
says where."""
import json
import os
import subprocess
import sys
import zlib


def flat(value, path, found):
    if isinstance(value, dict):
        for key, inner in value.items():
            flat(inner, f"{path}.{key}" if path else key, found)
    elif isinstance(value, list):
        for inner in value:
            flat(inner, path + "[]", found)
    else:
        found.setdefault(path, []).append(value)


def line(values):
    digest = zlib.crc32(json.dumps(values).encode()) & 0xffff
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if numbers:
        return f"{len(numbers)} numbers, sum {sum(numbers):.6g}, {digest:04x}"
    if any(isinstance(v, bool) for v in values):
        return f"{values.count(True)} of {len(values)} true, {digest:04x}"
    return f"{sum(v is not None for v in values)} texts, {digest:04x}"


def main():
    found: dict[str, list] = {}
    for trace in sys.argv[2:]:
        words = ["strata", *sys.argv[1].split(), trace, "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        flat({"exit status": done.returncode}, "", found)
        if not done.returncode:
            flat(json.loads(done.stdout.replace(trace, os.path.basename(trace))), "", found)
    for key, values in found.items():
        print(f"{key}: {line(values)}")


if __name__ == "__main__":
    main()
