#!/usr/bin/env python3
"""Environment variables: every one that the sources read is for users (at most 20, in the first table of
docs/settings.md), passed between processes of ours (in its second table), or for tests (STRATA_TEST_*); no
table
has one that nothing reads; both lists of old names are the same."""
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
MOST_FOR_USERS = 20
NAME = re.compile(r"""["'](STRATA(?:_[A-Z0-9]+)*)["'=]""")
PAIR = re.compile(r'"(STRATA_[A-Z0-9_]+)"[,:] "(STRATA_[A-Z0-9_]+)"')


def read_by_sources():
    found = set()
    for folder in ("src", "python", "include"):
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".py") or path.name in ("old_settings.c", "settings.py"):
                continue
            found |= set(NAME.findall(path.read_text(encoding="utf-8")))
    return found


def tables():
    """The names in the first column of each table."""
    result, inside = [], False
    for line in (TOP / "docs/settings.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        if not inside:
            result.append(set())
        inside = True
        result[-1] |= set(re.findall(r"`(STRATA(?:_[A-Z0-9]+)*)`", line.split("|")[1]))
    return result


def main():
    faults, read = [], read_by_sources()
    users, ours, for_tests = tables()
    for name in sorted(read - users - ours - for_tests):
        faults.append(f"{name} is read and stands in no table of docs/settings.md")
    for name in sorted((users | ours | for_tests) - read):
        faults.append(f"{name} is in docs/settings.md and nothing reads it")
    faults += [f"{name} is for tests and not called STRATA_TEST_*" for name in sorted(for_tests)
               if not name.startswith("STRATA_TEST_")]
    if len(users) > MOST_FOR_USERS:
        faults.append(f"{len(users)} variables for users, more than {MOST_FOR_USERS}")
    lists = [set(PAIR.findall((TOP / p).read_text(encoding="utf-8")))
             for p in ("src/cli/recording/old_settings.c", "python/strata/_base/settings.py")]
    if lists[0] != lists[1]:
        faults.append(f"old names differ between C and Python: {sorted(lists[0] ^ lists[1])}")
    print("\n".join(faults))
    print(f"{len(read) - len(faults)} passed, {len(faults)} failed")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
