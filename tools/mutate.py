#!/usr/bin/env python3
"""mutate.py: changes the core in small ways and looks whether a test notices.

    tools/mutate.py [--n 30] [--seed 1] [--only REGEX] [--line FILE:LINE] [--csv FILE [--survivors]]
                    [--tests REGEX]

A mutant turns a comparison, a constant, a sign, a returned value or a condition around, or drops a
statement. Tests and program are linked with one shared library of everything (build-mutate/), so a
mutant costs one compile and one link into a library of its own, which the same tests then load; the
tree is never touched.

Only what a test reaches is changed: each test runs once on a library that counts lines (gcov), and a
mutant runs the tests that reach its line, first those that kill most per second, until one fails, dies
or takes ten times as long as it does otherwise. What no test reaches is counted apart. A change that
the compiler makes the same code of is none; one that makes no difference is listed in
tests/mutation/equivalent.csv, with the reason. The others survive: a test is missing.

--csv keeps the results: a second run goes on where the first stopped, --survivors looks again at
those alone. A mutant is known by its text and function, not by its line; one whose line is gone is
left out. --tests runs fewer tests (those whose title matches), which is fast and can only make more
mutants survive. The exit status is 1 when fewer than 90 % were killed. Slow; not part of `make test`."""
import argparse
import csv
import hashlib
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-mutate"
COVER = BUILD / "cover"
MUTANT = BUILD / "mutant"
REACHES = COVER / "reaches.json"
EQUIVALENT = ROOT / "tests" / "mutation" / "equivalent.csv"
LIBRARY = "src/libstrata_all.so"
FAKE_TORCH = "tests/libtorch_cpu.so"  # a test loads it
WHERE = ("src/analyze", "src/record")
SETUP = ["-Ddebug=false", "-Doptimization=1", "-Db_ndebug=false", "-Done_library=true"]
SUITES = ("unit", "cli", "torture")
FAULTS = "torture_io"  # replaces calls of the library in the program, which is two here
SLOWER = 10  # a mutant may take this many times as long as the core itself
LEAST_S = 5
MOST_BYTES = 4 << 30
# What is read before it is written, or past the end, is not 0 by chance.
FILLED = {"GLIBC_TUNABLES": "glibc.malloc.perturb=165:glibc.malloc.tcache_count=0"}
WANTED_PCT = 90
DROP = ""
FIELDS = ("file", "line", "function", "old", "new", "verdict", "by")

# (what is looked for, what takes its place)
CHANGES = [
    (r" <= ", " < "), (r" >= ", " > "), (r" < ", " <= "), (r" > ", " >= "), (r" == ", " != "),
    (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", " + 0"), (r" - 1\b", " - 0"),
    (r" \+ (?=\w)", " - "), (r" - (?=\w)", " + "), (r" \+= ", " -= "), (r"\breturn true;", "return false;"),
    (r"\breturn false;", "return true;"), (r"\breturn 0;", "return -1;"),
    (r"\breturn (?!true|false)(?=[a-z]\w*;)", "return 0 * "),
    (r"(?<=[ (])(?:[2-9]|\d\d+)(?=[ ,;)])", "1"), (r"\bif \(", "if (0 && "), (r"\bif \(", "if (1 || "),
    (r"\bcontinue;", ";"), (r"\bbreak;(?! *//)", ";"),
    (r"^ +[a-z][\w>.\[\]-]* = [^;]*;$", DROP),
    (r"^ +(?!mem_free|free|arena_done|buf_done)[a-z]\w*\([^;]*\);$", DROP),
]


def sh(words, **kw):
    done = subprocess.run(words, capture_output=True, text=True, cwd=BUILD, check=False, **kw)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, words))[:400]}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


# ---- the build


def registered(suites, wanted):
    """The tests that count, by name: command, environment, the program it comes from."""
    found = {}
    for test in json.loads(sh(["meson", "introspect", "--tests", "."])):
        suite = test["suite"][0].split(":")[-1]
        if suite not in suites or test["cmd"][0].endswith(FAULTS):
            continue
        words = test["cmd"] + (["--first"] if suite == "cli" else [])
        title = f"{suite} {test['name']}"
        if re.search(wanted, title):
            found[title] = {"cmd": words, "env": test["env"], "suite": suite}
    return found


def set_up(suites, wanted):
    """The library, the program and the tests, built from the tree as it is."""
    if not (BUILD / "build.ninja").exists():
        BUILD.mkdir(exist_ok=True)
        sh(["meson", "setup", str(BUILD), str(ROOT), *SETUP])
    else:
        sh(["meson", "setup", "--reconfigure", str(BUILD), str(ROOT)])  # sees new tests
    tests = registered(suites, wanted)
    built = [t["cmd"][0] for t in tests.values() if t["suite"] in ("unit", "torture")]
    programs = {os.path.relpath(p, BUILD) for p in built}
    sh(["ninja", "-j1", "src/strata", FAKE_TORCH, *sorted(programs)])
    return tests


class Recipe:
    """How one file of the core is compiled, and the library linked with another object for it."""

    def __init__(self):
        lines = sh(["ninja", "-t", "commands", LIBRARY]).splitlines()
        self.link = shlex.split(lines[-1])
        self.compile: dict[str, list[str]] = {}
        for line in lines[:-1]:
            words = shlex.split(line)
            if "-c" in words and words[words.index("-o") + 1] in self.link:
                self.compile[words[-1].removeprefix("../")] = words

    def object_of(self, name):
        words = self.compile[name]
        return words[words.index("-o") + 1]

    def compiled(self, name, source, target, more=()):
        """Whether the source compiles in the place of the file."""
        words = [w for w in self.compile[name] if w != "ccache"]
        words[words.index("-o") + 1] = str(target)
        words[words.index("-MF") + 1] = "/dev/null"
        words[-1:] = ["-w", *more, str(source)]
        return not subprocess.run(words, cwd=BUILD, capture_output=True, check=False).returncode

    def linked(self, objects, target, more=()):
        """The library at `target`, with the objects that `objects` names by file."""
        others = {self.object_of(name): str(o) for name, o in objects.items()}
        words = [others.get(w, w) for w in self.link]
        words[words.index("-o") + 1] = str(target)
        sh([*words, *more])


# Of the library for programs alone; of the build of `make sensitivity` alone.
OUTSIDE = ("src/record/autostart.c", "src/analyze/tune.c")


def core_files():
    found = [str(p.relative_to(ROOT)) for folder in WHERE for p in sorted((ROOT / folder).rglob("*.c"))]
    return [name for name in found if name not in OUTSIDE]


def headers():
    return sorted((ROOT / "src").rglob("*.h"))


# ---- running a test


def limits(cpu_s):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def passes(test, library, usual_s):
    """(whether the test passes with that library, what it did otherwise). No process of it is left."""
    limit_s = LEAST_S + SLOWER * usual_s
    env = {**os.environ, **test["env"], "LD_LIBRARY_PATH": str(library), **FILLED}
    child = subprocess.Popen(test["cmd"], cwd=BUILD, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                             preexec_fn=limits(int(limit_s)))
    try:
        return child.wait(timeout=4 * limit_s) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


# ---- which test reaches which line


def counting_library(recipe):
    """The core at -O0, counting lines; made again for files that changed, all of it for a header."""
    COVER.mkdir(exist_ok=True)
    objects = {}
    newest = max(h.stat().st_mtime for h in headers())
    for name in core_files():
        target = COVER / (name.replace("/", "_") + ".o")
        objects[name] = target
        if target.exists() and target.stat().st_mtime > max(newest, (ROOT / name).stat().st_mtime):
            continue
        if not recipe.compiled(name, "../" + name, target, ["-O0", "--coverage"]):
            sys.exit(f"mutate.py: {name} does not compile for counting")
    recipe.linked(objects, COVER / Path(LIBRARY).name, ["--coverage"])


def counted_lines():
    """{file: [lines]} of what ran since the last call."""
    counts = sorted(COVER.glob("*.gcda"))
    lines: dict[str, list[int]] = {}
    if not counts:
        return lines
    out = subprocess.run(["gcov", "--json-format", "--stdout", *(c.name for c in counts)], cwd=COVER,
                         capture_output=True, text=True, check=True).stdout
    for text in out.splitlines():
        for file in json.loads(text)["files"] if text else ():
            name = file["file"].removeprefix("../")
            ran = [x["line_number"] for x in file["lines"] if x["count"]]
            if ran and name.startswith(WHERE) and name.endswith(".c"):
                lines[name] = ran
    for c in counts:
        c.unlink()
    return lines


def digest(*paths):
    found = hashlib.sha1()
    for path in paths:
        found.update(Path(path).read_bytes())
    return found.hexdigest()


def still_true(found, key, core):
    """Whether neither the test nor any file that it reaches has changed."""
    return found and found["key"] == key and all(core.get(n) == d for n, d in found["core"].items())


def reached(tests, recipe):
    """{test: {"seconds", "lines"}} of the tests that pass; kept until they or what they reach change."""
    counting_library(recipe)
    old = json.loads(REACHES.read_text()) if REACHES.exists() else {}
    core = {n: digest(ROOT / n) for n in core_files()}
    shared = digest(*headers())
    found = {}
    for title, test in tests.items():
        files = [BUILD / w for w in test["cmd"] if not w.endswith("strata")]
        key = shared + digest(*(f for f in files if f.is_file()))
        if still_true(old.get(title), key, core):
            found[title] = old[title]
            continue
        counted_lines()
        began = time.time()
        ok = passes(test, COVER, 60)
        seconds = time.time() - began
        lines = counted_lines()
        if not ok and passes(test, BUILD / "src", 60):
            ok = True  # some do not bear the files that counting writes
            print(f"mutate.py: {title} fails while lines are counted", file=sys.stderr)
        found[title] = {"key": key, "ok": ok, "seconds": seconds, "lines": lines,
                        "core": {n: core[n] for n in lines}}
        if not ok:
            print(f"mutate.py: {title} fails here as it is, and is left out", file=sys.stderr)
        REACHES.write_text(json.dumps({**old, **found}))
    return {t: f for t, f in found.items() if f["ok"]}


def tests_by_line(found):
    """{(file, line): [test, fastest first]}"""
    lines: dict[tuple[str, int], list[str]] = {}
    for title in sorted(found, key=lambda t: found[t]["seconds"]):
        for name, numbers in found[title]["lines"].items():
            for no in numbers:
                lines.setdefault((name, no), []).append(title)
    return lines


# ---- the mutants


def code_lines(path):
    """(number, line) of what is code: no comments, declarations, messages, asserts."""
    inside = False
    for no, line in enumerate(path.read_text().split("\n"), 1):
        begins = "/*" in line
        inside = inside or begins
        skip = inside or not line.startswith(" ") or '"' in line or "assert" in line or "NOLINT" in line
        if "*/" in line:
            inside = False
        if not skip:
            yield no, line


def mutants():
    """Every (file, line number, old line, new line)."""
    for name in core_files():
        for no, line in code_lines(ROOT / name):
            for pattern, other in CHANGES:
                for m in re.finditer(pattern, line):
                    yield name, no, line, line[:m.start()] + other + line[m.end():]


def made(mutant, recipe):
    """Whether the mutant's library is there; not if it does not compile or is the same code."""
    name, no, old, new = mutant
    lines = (ROOT / name).read_text().split("\n")
    assert lines[no - 1] == old
    MUTANT.mkdir(exist_ok=True)
    same, source, target = MUTANT / "same.o", MUTANT / "mutant.c", MUTANT / "mutant.o"
    for text, to in ((old, same), (new, target)):
        lines[no - 1] = text
        source.write_text("\n".join(lines))
        if not recipe.compiled(name, source, to):
            return False
    if same.read_bytes() == target.read_bytes():
        return False
    recipe.linked({name: target}, MUTANT / Path(LIBRARY).name)
    return True


class Judge:
    """Says of a mutant what kills it."""

    def __init__(self, args):
        self.tests = set_up((*SUITES, "oracle") if args.oracles else SUITES, args.tests)
        self.recipe = Recipe()
        self.found = reached(self.tests, self.recipe)
        self.by_line = tests_by_line(self.found)
        self.budget_s = args.budget
        self.kills = dict.fromkeys(self.tests, 0)
        self.runs = dict.fromkeys(self.tests, 0)

    def worth(self, title):
        """How many mutants the test may be expected to kill per second."""
        return (self.kills[title] + 0.2) / (self.runs[title] + 1) / max(self.found[title]["seconds"], 0.03)

    def order(self, mutant):
        """The tests that reach the line, as many as may be run; those named after the file first."""
        stem = Path(mutant[0]).stem
        titles = self.by_line.get((mutant[0], mutant[1]), [])
        left_s = self.budget_s
        for t in sorted(titles, key=lambda t: (not t.startswith(f"unit test_{stem}"), -self.worth(t))):
            if self.found[t]["seconds"] <= left_s:
                left_s -= self.found[t]["seconds"]
                yield t

    def fails(self, title):
        failed = not passes(self.tests[title], MUTANT, self.found[title]["seconds"])
        self.runs[title] += 1
        self.kills[title] += failed
        return failed

    def killer(self, mutant):
        """The test that notices the mutant; "" if none does; None where there is no mutant."""
        if not made(mutant, self.recipe):
            return None
        return next((t for t in self.order(mutant) if self.fails(t)), "")


# ---- results


def key_of(row):
    """What stays the same when lines move."""
    return row["file"], row["function"], row["old"], row["new"]


def function_at(name, no):
    """The function that line `no` of a file is in."""
    for line in reversed((ROOT / name).read_text().split("\n")[:no]):
        found = re.match(r"\w[\w *]*?(\w+)\(", line)
        if found:
            return found.group(1)
    return ""


def rows_of(path):
    if not path or not Path(path).exists():
        return []
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(path, rows):
    if path:
        with open(path, "w", newline="", encoding="utf-8") as f:
            out = csv.DictWriter(f, FIELDS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)


def row_of(mutant, verdict, by):
    name, no, old, new = mutant
    function = function_at(name, no)
    return dict(zip(FIELDS, (name, no, function, old.strip(), new.strip(), verdict, by), strict=True))


def judged(judge, mutant, reasons):
    """Its row, or None where there is no mutant."""
    row = row_of(mutant, "equivalent", "")
    row["by"] = reasons.get(key_of(row), "")
    if not row["by"]:
        by = judge.killer(mutant)
        if by is None:
            return None
        row.update(verdict="killed" if by else "survives", by=by)
    say = {"killed": "killed by " + row["by"], "equivalent": "makes no difference", "survives": "SURVIVES"}
    what = say[row["verdict"]]
    print(f"{what}: {row['file']}:{row['line']}\n  - {row['old']}\n  + {row['new']}", flush=True)
    return row


def choose(args, judge, everything):
    """The mutants to look at: of one line, or of what the tests reach, in the seed's order."""
    if args.line:
        file, _, line = args.line.rpartition(":")
        return [m for m in everything if m[0] == file and m[1] == int(line)]
    random.Random(args.seed).shuffle(everything)
    return [m for m in everything if m[:2] in judge.by_line and (not args.only or re.search(args.only, m[0]))]


def report(rows, everything, judge):
    count = {v: sum(r["verdict"] == v for r in rows) for v in ("killed", "survives", "equivalent")}
    lines = {m[:2] for m in everything}
    unreached = sorted(lines - judge.by_line.keys())
    (BUILD / "unreached.txt").write_text("".join(f"{n}:{i}\n" for n, i in unreached))
    print(f"{count['killed']} of {count['killed'] + count['survives']} mutants killed; "
          f"{count['equivalent']} more make no difference; {len(unreached)} of {len(lines)} lines are "
          f"reached by no test (build-mutate/unreached.txt)")
    return count


def placed(rows, everything):
    """The rows with the line where each mutant stands now, and those mutants; without those that are gone."""
    by_text: dict[tuple, list] = {}
    for m in everything:
        by_text.setdefault((m[0], m[2].strip(), m[3].strip()), []).append(m)
    found = []
    for row in rows:
        near = [m for m in by_text.get((row["file"], row["old"], row["new"]), [])
                if function_at(m[0], m[1]) == row["function"]]
        if near:
            m = min(near, key=lambda m: abs(m[1] - int(row["line"])))
            found.append(({**row, "line": m[1]}, m))
    return found


def again(args, judge, everything, rows, reasons):
    """Looks at the survivors once more."""
    began = time.time()
    for i, (row, mutant) in enumerate(placed(rows, everything)):
        if row["verdict"] != "survives" or time.time() - began > 60 * args.minutes:
            continue
        rows[i] = judged(judge, mutant, reasons) or row
        write(args.csv, rows)


def search(args, judge, chosen, rows, reasons):
    """Judges what was not judged yet, until there are enough."""
    seen = {key_of(r) for r in rows}
    began = time.time()
    for m in chosen:
        if not args.line and len(rows) >= args.n or time.time() - began > 60 * args.minutes:
            break
        if not args.line and key_of(row_of(m, "", "")) in seen:
            continue
        row = judged(judge, m, reasons)
        if row:
            rows.append(row)
            write(args.csv, rows)


def main():
    parser = argparse.ArgumentParser(description="small changes of the core, and whether a test notices")
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="files whose name matches")
    parser.add_argument("--line", help="all mutants of one line: FILE:LINE")
    parser.add_argument("--csv", help="keeps the results there, and goes on from those it has")
    parser.add_argument("--survivors", action="store_true", help="looks again at those of --csv")
    parser.add_argument("--tests", default="", help="tests whose title matches, as in 'unit test_steps'")
    parser.add_argument("--oracles", action="store_true", help="tests/oracle too, minutes each")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of tests per mutant, best first")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after this")
    args = parser.parse_args()
    judge, everything = Judge(args), list(mutants())
    rows = [row for row, _ in placed(rows_of(args.csv), everything)]
    reasons = {key_of(r): r["reason"] for r in rows_of(EQUIVALENT)}
    if args.survivors:
        again(args, judge, everything, rows, reasons)
    else:
        search(args, judge, choose(args, judge, list(everything)), rows, reasons)
    count = report(rows, everything, judge)
    total = count["killed"] + count["survives"]
    return 0 if total and 100 * count["killed"] >= WANTED_PCT * total else 1


if __name__ == "__main__":
    sys.exit(main())
