#!/usr/bin/env python3
"""test_map.py [WORD]: the tests that are nearest to each module of src, one line each.

A unit test is near the modules whose headers it includes, and farther from those that these include; a
golden tests/cli/NAME*.t is near the command src/cli/commands/cmd_NAME.c. Tests at the least distance are
listed, with the distance: 1 means that the test includes the module's header, or is named after it."""
import collections
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
MOST_NAMED = 6


def includes(path):
    """Modules (paths without their ending, below src) that a file includes."""
    return {name[:-2] for name in INCLUDE.findall(path.read_text(encoding="utf-8")) if name.endswith(".h")}


def modules():
    """What each module uses: of its source and its header."""
    uses = collections.defaultdict(set)
    for path in sorted((TOP / "src").rglob("*.[ch]")):
        name = path.relative_to(TOP / "src").with_suffix("").as_posix()
        uses[name] |= includes(path) - {name}
    for name in [n for n in uses if not (TOP / "src" / f"{n}.c").exists()]:
        # several sources of a folder hold what a header without one declares
        uses[name] |= {m for m in uses if name in uses[m] and m.rsplit("/", 1)[0] == name.rsplit("/", 1)[0]}
    return uses


def tests(uses):
    """What each test starts from."""
    by_stem = {m.rsplit("/", 1)[-1]: m for m in uses}
    found = {}
    for path in sorted((TOP / "tests/unit").glob("test_*.c")):
        found[f"unit/{path.stem}"] = (includes(path) & set(uses)) | {by_stem.get(path.stem[5:], "")} - {""}
    for path in sorted((TOP / "tests/cli").glob("*.t")):
        command = f"cli/commands/cmd_{path.stem.split('_')[0]}"
        if command in uses:
            found[f"cli/{path.name}"] = {command}
    return found


def nearest(uses, start):
    """module -> (distance, tests at that distance)."""
    result = {}
    for test, first in start.items():
        seen, at, distance = set(), set(first), 1
        while at:
            for module in at:
                old = result.get(module, (distance, []))
                if distance <= old[0]:
                    result[module] = (distance, (old[1] if distance == old[0] else []) + [test])
            seen |= at
            at = {u for m in at for u in uses.get(m, ())} & set(uses) - seen
            distance += 1
    return result


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    uses = modules()
    near = nearest(uses, tests(uses))
    for module in uses:
        if word not in module:
            continue
        distance, names = near.get(module, (0, []))
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED and not word else ""
        print(f"{module}: {distance} {' '.join(names if word else names[:MOST_NAMED])}{more}" if names else
              f"{module}: tests of the running program only")


if __name__ == "__main__":
    main()
