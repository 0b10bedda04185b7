#!/usr/bin/env python3
"""mutate.py: changes the core in small ways and looks whether a test notices.

    tools/mutate.py [--n 30] [--seed 1] [--only REGEX] [--line FILE:LINE]

A mutant turns a comparison, a constant, a sign, a returned value or a condition around, or drops a
statement. It is made in a copy of the tree (build-mutate/), so the tree itself is never touched. A
mutant that compiles is killed when a unit test fails that includes a header of the changed file's
folder, or, if those pass, a golden of the command line. The others survive: a test is missing, or
the change makes no difference. Prints both; the exit status is 1 when fewer than 90 % were killed.
Slow, and not part of `make test`."""
import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build-mutate" / "tree"
BUILD = TREE / "build"
WHERE = ("src/analyze", "src/record")
SETUP = ["-Ddebug=false", "-Doptimization=1", "-Db_ndebug=false"]
EVERYTHING = ("test_rules", "test_consistency")  # run all passes, whatever they include
GOLDENS = ("diagnose", "syncs", "gaps", "steps", "launches", "ranks", "comm", "kernels", "memory", "lint",
           "table", "stages", "offload", "json_keys")
LIMIT_S = 300
WANTED_PCT = 90
DROP = ""
COMPILER = "the compiler"  # such mutants do not count

# (what is looked for, what takes its place)
CHANGES = [
    (r" <= ", " < "), (r" >= ", " > "), (r" < ", " <= "), (r" > ", " >= "), (r" == ", " != "),
    (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", " + 0"), (r" - 1\b", " - 0"),
    (r" \+ (?=\w)", " - "), (r" - (?=\w)", " + "), (r" \+= ", " -= "), (r"\breturn true;", "return false;"),
    (r"\breturn false;", "return true;"), (r"\breturn 0;", "return 1;"),
    (r"\breturn (?!true|false)(?=[a-z]\w*;)", "return 0 * "),
    (r"(?<=[ (])(?:[2-9]|\d\d+)(?=[ ,;)])", "1"), (r"\bif \(", "if (0 && "), (r"\bif \(", "if (1 || "),
    (r"\bcontinue;", ";"), (r"\bbreak;(?! *//)", ";"),
    (r"^ +[a-z][\w>.\[\]-]* = [^;]*;$", DROP),
    (r"^ +(?!mem_free|free|arena_done|buf_done)[a-z]\w*\([^;]*\);$", DROP),
]


def sh(words, **kw):
    return subprocess.run(words, capture_output=True, text=True, cwd=TREE, check=False, **kw)


def set_up():
    """The copy as the tree is now, configured and built once."""
    TREE.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        source, copy = ROOT / name, TREE / name
        if not source.is_file() or source.is_symlink():
            continue
        data = source.read_bytes()
        if not copy.exists() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            copy.chmod(source.stat().st_mode)
    if not (BUILD / "build.ninja").exists():
        done = sh(["meson", "setup", "build", *SETUP])
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


def code_lines(path):
    """(number, line) of what is code: no comments, declarations, messages, asserts."""
    inside = False
    for no, line in enumerate(path.read_text().split("\n")):
        begins = "/*" in line
        inside = inside or begins
        skip = inside or not line.startswith(" ") or '"' in line or "assert" in line or "NOLINT" in line
        if "*/" in line:
            inside = False
        if not skip:
            yield no, line


def mutants(only):
    """Every (file, line number, old line, new line)."""
    for folder in WHERE:
        for path in sorted((ROOT / folder).rglob("*.c")):
            name = str(path.relative_to(ROOT))
            if only and not re.search(only, name):
                continue
            for no, line in code_lines(path):
                for pattern, other in CHANGES:
                    for m in re.finditer(pattern, line):
                        yield name, no, line, line[:m.start()] + other + line[m.end():]


def tests_of(name):
    """Unit tests that include a header of the file's folder."""
    folder = os.path.dirname(name).removeprefix("src/") + "/"
    found = []
    kits = {k.name: k.read_text() for k in (TREE / "tests").glob("*.h")}
    for path in sorted((TREE / "tests" / "unit").glob("test_*.c")):
        text = path.read_text()
        text += "".join(kits.get(k, "") for k in re.findall(r'#include "(\w+\.h)"', text))
        if f'#include "{folder}' in text or path.stem in EVERYTHING:
            found.append(path.stem)
    return found


def passes(words, env=None):
    try:
        return sh(words, timeout=LIMIT_S, env={**os.environ, **(env or {})}).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def unit_tests(name):
    """The first thing that fails, or None."""
    tests = tests_of(name)
    if not passes(["ninja", "-C", "build", *(f"tests/{t}" for t in tests)]):
        return COMPILER
    data = {"STRATA_TEST_DATA": str(TREE / "tests" / "data")}
    return next((t for t in tests if not passes([f"build/tests/{t}"], data)), None)


def goldens():
    if not passes(["ninja", "-C", "build", "src/strata"]):
        return COMPILER
    files = [f"tests/cli/{g}.t" for g in GOLDENS if (TREE / f"tests/cli/{g}.t").exists()]
    run = ["tests/cli/run.py", "--strata", "build/src/strata"]
    return next((f for f in files if not passes([*run, f])), None)


def killer(mutant):
    """What notices the mutant, or None."""
    name, no, old, new = mutant
    path = TREE / name
    text = path.read_text()
    lines = text.split("\n")
    assert lines[no] == old
    lines[no] = new
    path.write_text("\n".join(lines))
    try:
        return unit_tests(name) or (goldens() if name.startswith("src/analyze") else None)
    finally:
        path.write_text(text)


def choose(args):
    found = list(mutants(args.only))
    if args.line:
        file, _, line = args.line.rpartition(":")
        return [m for m in found if m[0] == file and m[1] + 1 == int(line)]
    random.Random(args.seed).shuffle(found)
    return found[:args.n]


def main():
    parser = argparse.ArgumentParser(description="small changes of the core, and whether a test notices")
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="files whose name matches")
    parser.add_argument("--line", help="all mutants of one line: FILE:LINE")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this")
    args = parser.parse_args()
    set_up()
    killed, survivors, began = 0, [], time.time()
    for mutant in choose(args):
        if time.time() - began > 60 * args.minutes:
            break
        by = killer(mutant)
        if by == COMPILER:
            continue
        killed += by is not None
        if by is None:
            survivors.append(mutant)
        name, no, old, new = mutant
        print(f"{'killed by ' + by if by else 'SURVIVES'}: {name}:{no + 1}")
        print(f"  - {old.strip()}\n  + {new.strip()}", flush=True)
    total = killed + len(survivors)
    print(f"{killed} of {total} mutants killed")
    return 0 if total and 100 * killed >= WANTED_PCT * total else 1


if __name__ == "__main__":
    sys.exit(main())
