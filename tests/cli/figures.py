#!/usr/bin/env python3
"""figures.py [--keys] COMMAND TRACE...: everything that a command computes of some traces, in one line.

The command runs with --json on each trace:

    gaps: 78 keys, 12345 values, sum 1234.5, 5a3f

The last word is a checksum of all values in their order, so a result that changes anywhere shows. Which
one: --keys prints such a line for every key, and `diff` compares what two programs (the one called
strata in PATH) print."""
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
    words = sys.argv[1:]
    keys = words[0] == "--keys"
    command, *traces = words[keys:]
    found: dict[str, list] = {}
    for trace in traces:
        done = subprocess.run(["strata", *command.split(), trace, "--json"], capture_output=True, text=True,
                              check=False)
        flat({"exit status": done.returncode}, "", found)
        if not done.returncode:
            flat(json.loads(done.stdout.replace(trace, os.path.basename(trace))), "", found)
    for key, values in found.items() if keys else ():
        print(f"{key}: {line(values)}")
    if not keys:
        values = [[key, *values] for key, values in found.items()]
        numbers = [v for of_key in values for v in of_key if isinstance(v, (int, float))
                   and not isinstance(v, bool)]
        digest = zlib.crc32(json.dumps(values).encode()) & 0xffff
        n = sum(map(len, values)) - len(values)
        print(f"{command}: {len(values)} keys, {n} values, sum {sum(numbers):.6g}, {digest:04x}")


if __name__ == "__main__":
    main()
