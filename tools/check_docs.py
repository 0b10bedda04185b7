#!/usr/bin/env python3
"""Keeps the documents true: runs their ```console blocks and follows their links.

In a console block a line `$ command` is run by bash in the root of the tree, with our strata in
the path; the lines after it must be what it prints (standard error too). A line `...` stands for
any number of lines. Relative links must lead to a file, #anchors to a heading, `tests/FILE:NAME` to a
test or function of that name. A figure with a mark,
`0.73<!-- = bench/results.csv[input=1 GB;tool=strata table].seconds -->`, must be that value of that row,
to the digits that are shown; `/ 1000` after the column scales it. Between the marks
`<!-- glossary -->` and `<!-- end -->` must be the table of `strata help glossary`, between
`<!-- keys VIEW -->` (or `<!-- keys VIEW KEY -->`, for what stands below that key, or
`<!-- keys VIEW 2 -->`, for the second document of that view) and `<!-- end -->` the keys in
`strata help schema VIEW`, between `<!-- csv FILE -->` and `<!-- end -->` that file as a table. --update
rewrites the blocks (those without `...`) and the tables to what
came out. Ends with `N passed, N failed`.
"""
import argparse
import csv
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = re.compile(r"(?<=<!-- glossary -->\n).*?(?=<!-- end -->)", re.S)
KEYS = re.compile(r"(?<=<!-- keys )(\w+)(?: (\w+))? -->\n.*?(?=<!-- end -->)", re.S)
CSV = re.compile(r"(?<=<!-- csv )([\w/.]+) -->\n.*?(?=<!-- end -->)", re.S)
TEST = re.compile(r"`(tests/[\w/]+\.(?:c|py)):(\w+)`")
FIGURE = re.compile(r"([-+]?[\d.,]*\d)<!-- = ([\w/.]+)\[([^\]]+)\]\.(\w+)(?: / (\d+))? -->")
MARK = re.compile(r"<!-- = ")
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


def run(command, args):
    env = dict(os.environ, PATH=f"{args.strata.parent}:{os.environ['PATH']}", TMPDIR=args.scratch,
               NO_COLOR="1", LC_ALL="C.UTF-8")
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
        got = run(command, args)
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


def value_of(file, conditions, column):
    """The number in one row of a CSV file; several rows that agree count as one."""
    wanted = dict(c.split("=", 1) for c in conditions.split(";"))
    with open(ROOT / file, newline="") as f:
        found = {row[column] for row in csv.DictReader(f) if all(row[k] == v for k, v in wanted.items())}
    if len(found) != 1:
        raise ValueError(f"{len(found)} values")
    return float(re.match(r"[-+]?[\d.]+", found.pop())[0])


def wrong_figures(text):
    marks = list(FIGURE.finditer(text))
    if len(marks) != len(MARK.findall(text)):
        yield "a mark <!-- = ... --> that cannot be read"
    for shown, file, conditions, column, scale in (m.groups() for m in marks):
        try:
            value = value_of(file, conditions, column) / float(scale or 1)
        except (OSError, KeyError, ValueError, TypeError) as e:
            yield f"{shown}: {file}[{conditions}].{column}: {e!r}"
            continue
        digits = len(shown.partition(".")[2])
        if abs(float(shown.replace(",", "")) - value) > 0.5001 * 10 ** -digits:
            yield f"{shown} is {value:.{digits + 1}f} in {file}"


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


def key_type(schema):
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    item = schema.get("items", {}).get("type", "any")
    words = [f"list of {item if isinstance(item, str) else item[0]}s" if t == "array" else t for t in types]
    return " or ".join(words)


def key_rows(schema, seen, path=""):
    """(key with what is around it, type, meaning) of everything below. A source is one thing; keys that
    another object of the table has as well are listed there only."""
    for key, value in schema["properties"].items():
        name = path + key + "[]" * (value["type"] == "array")
        inner = value.get("items", value)
        keys, means = frozenset(inner.get("properties", {})), value.get("description", "")
        shared = seen.get(keys) if keys else None
        if "idle_trusted" in keys:
            shared = "[trace_quality](#trace_quality)"
        elif keys and not means:
            shared = f"[{key}](#{key})"
        yield name, key_type(value), f"{means}; keys: see {shared}".lstrip("; ") if shared else means
        if keys and not shared and keys != {"file", "line", "function"}:
            seen[keys] = f"`{name}`"
            yield from key_rows(inner, seen, name + ".")


@functools.cache
def schemas_of(strata, view):
    """What a view may write: one schema per document."""
    done = subprocess.run([strata, "help", "schema", view], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["anyOf"]


@functools.cache
def single_documents(strata):
    """(view, its schema) of views that are one document, which other views may write as well."""
    done = subprocess.run([strata, "help", "schema"], check=True, capture_output=True, text=True)
    views = [line.split()[0] for line in done.stdout.splitlines()]
    return [(view, schemas_of(strata, view)[0]) for view in views if len(schemas_of(strata, view)) == 1]


def keys_table(strata, view, below):
    """The keys of a view, or those below one of them, as a Markdown table. Documents that have a table
    of their own are left out."""
    others = [schema for name, schema in single_documents(strata) if name != view]
    rows, schemas = {}, [s for s in schemas_of(strata, view) if s not in others]
    if below and below.isdigit():
        schemas, below = [schemas[int(below) - 1]], None
    for schema in schemas:
        inner = schema["properties"][below] if below else schema
        for name, kind, means in key_rows(inner, {}):
            rows.setdefault(name, f"| `{name}` | {kind} | {means} |")
    return "\n".join(["| key | type | meaning |", "|---|---|---|", *rows.values(), ""])


def check_keys(path, text, args):
    """The text with the tables of today, and whether each was right or was rewritten."""
    results = []

    def table(found):
        view, below = found.groups()
        now = f"{view}{' ' + below if below else ''} -->\n{keys_table(args.strata, view, below)}"
        results.append(args.update or found.group() == now)
        if not results[-1]:
            print(f"{path.relative_to(ROOT)}: the keys of {view} are not those of strata help schema "
                  "(make update-goldens)")
        return now

    return KEYS.sub(table, text), results


def check_csv(path, text, args):
    """The same for tables that are CSV files."""
    results = []

    def table(found):
        with open(ROOT / found[1], newline="") as f:
            rows = list(csv.reader(f))
        rows[0] = [name.replace("_", " ") for name in rows[0]]
        rows.insert(1, ["---"] * len(rows[0]))
        now = f"{found[1]} -->\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
        results.append(args.update or found.group() == now)
        if not results[-1]:
            print(f"{path.relative_to(ROOT)}: the table is not that of {found[1]} (make update-goldens)")
        return now

    return CSV.sub(table, text), results


def check(path, args):
    text, good = check_glossary(path, path.read_text(), args)
    text, tables = check_keys(path, text, args)
    text, more = check_csv(path, text, args)
    tables += more
    lines = text.split("\n")
    passed, failed = int(good is True) + tables.count(True), int(good is False) + tables.count(False)
    for first, last in reversed(list(blocks(lines))):
        p, f, written = check_block(path, lines, first, last, args)
        passed, failed = passed + p, failed + f
        lines[first:last] = written
    if args.update:
        path.write_text("\n".join(lines))
    bad = [f"dead link: {target}" for target in broken_links(path, text)]
    bad += [f"no such test: {name}" for name in missing_tests(text)]
    bad += [f"figure: {what}" for what in wrong_figures(text)]
    for what in bad:
        print(f"{path.relative_to(ROOT)}: {what}")
    return passed + (not bad), failed + bool(bad)


def check_drawings(args):
    """Whether the charts of the README show the figures at hand, and its terminal what is printed."""
    results = []
    for name, words in (("figures", []), ("terminal", ["--strata", args.strata])):
        tool = ROOT / "tools" / f"{name}.py"
        if args.update:
            subprocess.run([tool, *words], check=True)
        good = subprocess.run([tool, *words, "--check"]).returncode == 0
        if not good:
            print(f"docs/images/{name}.svg is not what tools/{name}.py draws (make update-goldens)")
        results.append(good)
    return results.count(True), results.count(False)


def main():
    parser = argparse.ArgumentParser(description="run the examples of the documents")
    parser.add_argument("--strata", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="strata-docs-") as args.scratch:
        results = [check(path, args) for path in documents()] + [check_drawings(args)]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
