#!/usr/bin/env python3
"""Keeps the documents true: runs their ```console blocks and follows their links.

In a console block a line `$ command` is run by bash in the root of the tree, with our strata in
the path; the lines after it must be what it prints (standard error too). A line `...` stands for
any number of lines. Relative links must lead to a file, #anchors to a heading, `tests/FILE:NAME` to a
test or function of that name. Between the marks
`<!-- glossary -->` and `<!-- end -->` must be the table of `strata help glossary`. --update rewrites
the blocks (those without `...`) and the table to what came out. Ends with `N passed, N failed`.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = re.compile(r"(?<=<!-- glossary -->\n).*?(?=<!-- end -->)", re.S)
TEST = re.compile(r"`(tests/[\w/]+\.(?:c|py)):(\w+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                         check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in out.splitlines() if (ROOT / name).exists()]


def blocks(lines):
    """(first line, last line) of what stands inside each console block."""
    start = None
    for no, line in enumerate(lines):
        if start is None and line.strip() == "```console":
            start = no + 1
        elif start is not None and line.strip() == "```":
            yield start, no
            start = None


def commands(lines):
    """(command, expected output lines) pairs of a block."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def run(command, strata):
    env = dict(os.environ, PATH=f"{strata.parent}:{os.environ['PATH']}", NO_COLOR="1", LC_ALL="C.UTF-8")
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout.decode("utf-8", "replace").rstrip("\n").split("\n") if done.stdout else []


def matches(expected, got):
    if "..." not in expected:
        return [line.rstrip() for line in expected] == [line.rstrip() for line in got]
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()) + r"\s*\n" for line in expected]
    return re.fullmatch("".join(parts), "".join(line.rstrip() + "\n" for line in got)) is not None


def check_block(path, lines, first, last, args):
    """Results of one block: (passed, failed, lines as they would be written)."""
    passed = failed = 0
    written = []
    for command, expected in commands(lines[first:last]):
        got = run(command, args.strata)
        good = matches(expected, got)
        written += ["$ " + command] + (got if args.update and "..." not in expected else expected)
        if good or (args.update and "..." not in expected):
            passed += 1
            continue
        failed += 1
        print(f"{path.relative_to(ROOT)}:{first}: $ {command}")
        for line in got:
            print(f"  got {line}")
    return passed, failed, written


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def broken_links(path, text):
    for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.S)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            yield target
        elif fragment and file.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", file.read_text(), flags=re.M)
            if fragment not in map(anchor, headings):
                yield target


def missing_tests(text):
    for file, name in TEST.findall(text):
        source = (ROOT / file).read_text() if (ROOT / file).exists() else ""
        if not re.search(rf"^(?:TEST\({name}\)|\s*def {name}\(|[\w *]*\b{name}\()", source, flags=re.M):
            yield f"{file}:{name}"


def glossary(strata):
    """The glossary of the program as a Markdown table."""
    done = subprocess.run([strata, "help", "glossary", "--json"], check=True, capture_output=True, text=True)
    rows = [f"| {t['term']} | {t['meaning']} |" for t in json.loads(done.stdout)["terms"]]
    return "\n".join(["| term | meaning |", "|---|---|", *rows, ""])


def check_glossary(path, text, args):
    """The text with the table of today, and whether the table was right or was rewritten."""
    found = GLOSSARY.search(text)
    if not found:
        return text, None
    table = glossary(args.strata)
    good = args.update or found.group() == table
    if not good:
        print(f"{path.relative_to(ROOT)}: the table is not that of strata help glossary "
              "(make update-goldens)")
    return text[:found.start()] + table + text[found.end():], good


def check(path, args):
    text, good = check_glossary(path, path.read_text(), args)
    lines = text.split("\n")
    passed, failed = int(good is True), int(good is False)
    for first, last in reversed(list(blocks(lines))):
        p, f, written = check_block(path, lines, first, last, args)
        passed, failed = passed + p, failed + f
        lines[first:last] = written
    if args.update:
        path.write_text("\n".join(lines))
    bad = [f"dead link: {target}" for target in broken_links(path, text)]
    bad += [f"no such test: {name}" for name in missing_tests(text)]
    for what in bad:
        print(f"{path.relative_to(ROOT)}: {what}")
    return passed + (not bad), failed + bool(bad)


def main():
    parser = argparse.ArgumentParser(description="run the examples of the documents")
    parser.add_argument("--strata", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    results = [check(path, args) for path in documents()]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
