#!/usr/bin/env python3
"""One figure has one value: on screen, in JSON, in Markdown, on the page, in SQL and in Parquet.

    test_results.py --strata BINARY DATA-FOLDER...

Every view of every trace below the folders, and in ../shared/traces where that exists, is asked for in all
its renderings, and every cell is held against JSON. Which heading is which key is what the schema says
(`strata help schema VIEW`: `title`), so a rendering that is spelled elsewhere is found out. At the end every
list has to have been met in every rendering that it has: a check of nothing does not pass."""
import argparse
import collections
import functools
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from pyarrow import parquet
except ImportError:  # of the package's own environment; tests/python runs this file with it
    parquet = None

sys.path.insert(0, str(Path(__file__).parent))
from page_reader import read
from traces import find_traces

LARGEST = 3 << 20
ENDS = (".pftrace", ".xplane.pb", ".sqlite", ".strata", ".json.zst")
# view: its command; all with --whole, so that all are about the same part of a recording
VIEWS = {"report": ["report"], "stages": ["stages", "--wide"], "steps": ["steps"], "syncs": ["syncs"],
         "gaps": ["gaps"], "launches": ["gaps", "--launches"], "memory": ["memory"],
         "kernels": ["kernels", "--wide"], "table": ["table", "--wide"]}
LIMITED = ("stages", "steps", "syncs", "gaps", "memory", "kernels", "table")
PAGE = {"stages": "stages", "steps": "steps", "syncs": "sites", "kernels": "rows", "table": "rows",
        "gaps": "causes"}
TABLES = {"stages": ("stages", "stages"), "steps": ("steps", "steps"), "syncs": ("syncs", "sites"),
          "kernels": ("kernels", "rows"), "gaps": ("gaps", "causes"), "findings": ("report", "findings")}
# columns of SQL and Parquet whose names are not those of JSON; None: moments, since 1970 there
NAMED = {("stages", "stage"): "path", ("stages", "calls"): "count", ("stages", "found_by"): "from",
         ("stages", "gpu_idle_ns"): "idle_us", ("steps", "begin_ns"): None, ("steps", "gpu_start_ns"): None,
         ("syncs", "first_ns"): None, ("syncs", "last_ns"): None, ("kernels", "roof_pct"): "of_roof_pct",
         ("gaps", "cause"): "kind", ("gaps", "steps"): "in_steps", ("findings", "place"): None}
PLACE = ("file", "line", "function")
# lists that have a table on the screen, and where else they stand
MET = {("screen", "stages.stages"), ("screen", "steps.steps"), ("screen", "syncs.sites"),
       ("screen", "gaps.causes"), ("screen", "launches.stages"), ("screen", "launches.calls"),
       ("screen", "memory.devices.steps"), ("screen", "kernels.rows"), ("screen", "table.rows"),
       ("Markdown", "stages.stages"), ("Markdown", "kernels.rows"), ("screen", "ranks.ranks"),
       ("screen", "ranks.collectives"), ("screen", "gaps.gaps"), ("screen", "memory.sites"),
       *(("page", f"{view}.{key}") for view, key in PAGE.items()),
       *(("SQL", table) for table in TABLES)}
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6, "min": 6e7, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9,
         "TB": 1e12, "%": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
NAMES = ("name", "short_name", "path", "op", "call", "function", "stage")


def run(strata, *args):
    done = subprocess.run([strata, *map(str, args)], capture_output=True, text=True, timeout=600, check=False)
    return done.stdout if done.returncode in (0, 1) else None


# ---- what the schema says

@functools.cache
def lists_of(strata, view):
    """The lists of a document: the path of each, and the headings of its keys."""
    found = {}
    for schema in json.loads(run(strata, "help", "schema", view))["anyOf"]:
        walk_schema(schema, "", found)
    return found


def titles_of(schema, outer=""):
    """Key, heading and type of the keys of an object, and of those of the objects in it."""
    for key, value in schema["properties"].items():
        if "title" in value:
            yield outer + key, value["title"], value["type"]
        if value["type"] == "object" and "properties" in value and "file" not in value["properties"]:
            yield from titles_of(value, f"{outer}{key}.")


def value_of(row, key):
    for part in key.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def walk_schema(schema, path, found):
    for key, value in schema.get("properties", {}).items():
        here = f"{path}.{key}" if path else key
        items = value.get("items", {})
        if "properties" in items:
            found.setdefault(here, list(titles_of(items)))
            walk_schema(items, here, found)
        walk_schema(value, here, found)


def rows_of(document, path):
    """The rows of a list, those of all lists around it one after the other."""
    here = [document]
    for key in path.split("."):
        here = [v for row in here if isinstance(row, dict) for v in [row.get(key)] if v is not None]
        here = [x for v in here for x in (v if isinstance(v, list) else [v])]
    return here


# ---- screen and Markdown

def number_of(cell):
    """The value of a cell and how far rounding may have moved it; None where there is none."""
    if cell in ("-", "?", ""):
        return None
    m = re.fullmatch(r"(<|[+])?(-?[\d,]*\.?\d+)(?: (\w+|%))?", cell)
    if not m or (m[3] and m[3] not in UNITS):
        return cell
    digits = m[2].replace(",", "")
    scale = UNITS.get(m[3], 1)
    step = 10.0 ** -(len(digits.partition(".")[2])) if "." in digits else 1
    if m[1] == "<":
        return (0.0, float(digits) * scale)
    if not m[3] and "." not in digits and len(digits) > 3 and "," not in m[2]:
        step = 10.0 ** (len(digits) - 3)  # three significant digits
    return (float(digits) * scale, 0.501 * step * scale + 6e-4)  # of nanoseconds, rounded before


def fits_cut(cell, text):
    """Whether a cell is the text, or the text cut."""
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]+", " ", text)
    if "..." not in cell:
        return cell.replace("_", " ").lower() in (text.replace("_", " ").lower(), "x".join(text.split()))
    parts = re.split(r"\.\.\.(?!\.)", cell)  # "20....ernels" is cut behind "20."
    return re.fullmatch(".*".join(re.escape(p) for p in parts), text, re.S) is not None


def cell_fits(cell, value, heading):
    shown = number_of(cell)
    if isinstance(value, bool):
        return cell in ((heading, "yes") if value else ("-", ""))
    if shown is None:
        return value is None or value in (0, "", [])
    if isinstance(value, dict):  # a place: file, line and function
        return fits_cut(cell.split(" ")[0], f"{value.get('file')}:{value.get('line')}") or ".py" in cell
    if isinstance(value, list):
        return fits_cut(cell, " ".join(map(str, value)))
    if isinstance(value, str):
        return fits_cut(cell, value)
    if isinstance(shown, str) or not isinstance(value, (int, float)):
        return False
    return math.isclose(value, shown[0], rel_tol=1e-9, abs_tol=shown[1])


def split_cells(line):
    return [(m.start(), m.end(), m[0]) for m in re.finditer(r"\S+(?: \S+)*", line)]


def tables_of(text):
    """Tables of a screen: headings, and each row below as cells by the place of their heading. Columns of
    numbers end with their heading, those of texts begin with it."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        heads = split_cells(line)
        if len(heads) < 3 or any(re.match(r"[-<]?[\d.,]+( |$)", h[2]) for h in heads):
            continue
        rows = []
        for below in lines[i + 1:]:
            cells = {}
            for begin, end, cell in split_cells(below):
                at = next((k for k, h in enumerate(heads) if end == h[1] or begin == h[0]), 0)
                cells.setdefault(at, cell)
            if len(cells) < 2:
                break
            rows.append(cells)
        if rows:
            yield [h[2] for h in heads], rows


def markdown_tables(text):
    lines = text.splitlines()
    for i in range(len(lines) - 1):
        if lines[i].startswith("|") and re.match(r"\|[-:| ]+\|$", lines[i + 1]):
            heads = [c.strip() for c in lines[i].strip("|").split("|")]
            rows = []
            for line in lines[i + 2:]:
                if not line.startswith("|"):
                    break
                cells = [c.strip().replace("\\", "").strip("`") for c in line.strip("|").split("|")]
                rows.append(dict(enumerate(cells)) if len(cells) == len(heads) else {})
            yield heads, rows


def list_of_table(heads, lists, document):
    """The list that the table shows: the one that knows most of its headings, three or all but two."""
    best, most = None, 1
    for path, titles in lists.items():
        known = {t for _, t, _ in titles}
        n = sum(h in known for h in heads)
        if n > most and n >= min(3, len(heads) - 2) and rows_of(document, path):
            best, most = path, n
    return best


def row_faults(heads, cells, row, titles):
    """Headings whose cell is none of the figures that have this heading. Words may differ: people read
    "guard check" where programs read "dynamo_lookup"."""
    for at, head in enumerate(heads):
        has = {k: value_of(row, k) for k, title, _ in titles if title == head and k.split(".")[0] in row}
        has = {k: v for k, v in has.items() if not isinstance(v, (str, dict))}
        cell = cells.get(at, "")
        if at and has and not any(cell_fits(cell, v, head) for v in has.values()):
            yield f"{head} is {cell!r}, in JSON {has}"


def first_fits(heads, cells, row, titles):
    """Whether the first cell is of the row: the value under its heading, or else one of its names. None
    where the row has nothing to be called by."""
    cell = cells.get(0, "")
    own = [row[k] for k, title, _ in titles if title == heads[0] and row.get(k) is not None]
    names = [v for k, v in row.items() if k in NAMES and isinstance(v, str)]
    names += [v for v in own if isinstance(v, str)]
    if any(cell_fits(cell, v, heads[0]) for v in own if not isinstance(v, str)):
        return True
    if not names:
        return None if not own else False
    return any(fits_cut(cell, part) for n in names for part in (n, n.rpartition("/")[2]))


def check_table(heads, shown, rows, titles, where, met):
    """Each row of a table is the next row of the list that has its name and all of its figures."""
    at, wide = 0, len(heads) - 2
    for cells in shown:
        if len(cells) < wide:
            continue
        named = {k: first_fits(heads, cells, row, titles) for k, row in enumerate(rows)}
        good = next((k for k in [*range(at, len(rows)), *range(at)]
                     if named[k] is not False and not list(row_faults(heads, cells, rows[k], titles))), None)
        if good is not None:
            at = good + 1
            met[where] += len(cells) - 1
            continue
        so_called = [k for k in named if named[k] or set(named.values()) == {None}]
        if so_called:  # else a sum, or a line of words
            fault = next(row_faults(heads, cells, rows[so_called[0]], titles), "out of place")
            yield f"{' '.join(where)}: {cells.get(0)}: {fault}"


def check_text(rendering, tables, view, document, lists, met):
    for heads, shown in tables:
        path = list_of_table(heads, lists, document)
        if path:
            yield from check_table(heads, shown, rows_of(document, path), lists[path],
                                   (rendering, f"{view}.{path}"), met)


# ---- page, SQL and Parquet

def check_page(head, documents, met):
    page = head["sets"][0]
    for view, key in PAGE.items():
        for i, (a, b) in enumerate(zip(page.get(view, {}).get(key, []), documents[view][key])):
            # a page replays kernels for their headroom, the command does so on request
            same = {k: v for k, v in a.items() if not k.startswith("headroom_wall_")} == \
                   {k: v for k, v in b.items() if not k.startswith("headroom_wall_")}
            met["page", f"{view}.{key}"] += len(a)
            if not same and not (view == "table" and a["name"] != b["name"]):
                yield f"page: {view} {i} differs from JSON"


def check_columns(head, strata, met):
    """What the page calls a column is what every other rendering calls it."""
    for view, key in {**PAGE, "gaps": "gaps"}.items():
        titles = dict((k, t) for k, t, _ in lists_of(strata, view)[key])
        for column in head["columns"].get(view, []):
            met["page", "columns"] += 1
            if titles.get(column[0]) != column[1]:
                yield f"page: {view}.{column[0]} is {column[1]}, elsewhere {titles.get(column[0])}"


def ask(server, number, method, params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                                   "params": params}) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def sql(strata, trace, queries):
    """The answer to each query, from the server that answers SQL."""
    with subprocess.Popen([strata, "mcp", str(trace.parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as server:
        ask(server, 0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                      "clientInfo": {"name": "test", "version": "1"}})
        for i, query in enumerate(queries):
            given = {"trace": trace.name, "query": query, "limit": 200, "whole": True}
            answer = ask(server, i + 1, "tools/call", {"name": "sql", "arguments": given})
            said = answer.get("result", {})
            yield {} if said.get("isError", True) else json.loads(said["content"][0]["text"])
        server.stdin.close()


def column_fault(table, column, cell, row):
    key = NAMED.get((table, column), re.sub("_ns$", "_us", column))
    if f"predicted_{key}" in row:
        key = f"predicted_{key}"
    place = row.get("source") or row.get("where")
    if column in PLACE and key not in row:
        return None if (place or {}).get(column) == cell else f"{column} is {cell}, in JSON {place}"
    if key is None or (key not in row and cell is None):
        return None
    want = row.get(key)
    if isinstance(want, (int, float)) and not isinstance(want, bool) and column.endswith("_ns"):
        want = want * 1000
    if isinstance(cell, str) and "..." in cell and isinstance(want, str):  # the server cuts long texts
        cell = want if fits_cut(cell, want) else cell
    near = 0.6 if column.endswith("_ns") else 5.1e-3
    same = cell == want or (isinstance(want, (int, float)) and isinstance(cell, (int, float))
                            and math.isclose(cell, want, rel_tol=1e-9, abs_tol=near))
    return None if same else f"{column} is {cell}, {key} in JSON {row.get(key)}"


def check_rows(rendering, table, found, rows, met):
    for cells, row in zip(found, rows):
        for column, cell in cells.items():
            met[rendering, table] += 1
            fault = column_fault(table, column, cell, row)
            if fault:
                yield f"{rendering}: {table}.{fault}"


def check_sql(strata, trace, documents, met):
    queries = [f"SELECT * FROM {table} LIMIT 200" for table in TABLES]
    for (table, (view, key)), answer in zip(TABLES.items(), sql(strata, trace, queries)):
        if "columns" not in answer:
            yield f"SQL: no answer about {table}"
            continue
        found = [dict(zip(answer["columns"], cells)) for cells in answer["rows"]]
        if table != "findings" and len(found) != min(200, len(documents[view][key])):
            yield f"SQL: {table} has {len(found)} rows, JSON {len(documents[view][key])}"
        yield from check_rows("SQL", table, found, documents[view][key], met)


def check_parquet(strata, trace, documents, folder, met):
    if parquet is None:
        return
    out = folder / "tables"
    subprocess.run(["rm", "-rf", out], check=True)
    if run(strata, "export", "--to", "tables", trace, "-o", out) is None:
        return
    for table, (view, key) in TABLES.items():
        for path in out.glob(f"{table}/run=*/rank=*/part.parquet"):
            found = parquet.ParquetFile(path).read().to_pylist()
            yield from check_rows("Parquet", table, found, documents[view][key], met)


# ---- a trace

def check_screens(strata, trace, documents, met):
    for view, command in VIEWS.items():
        limit = ["--limit", "0"] if view in LIMITED else []
        text = run(strata, *command, trace, "--whole", *limit)
        lists = lists_of(strata, view)
        yield from check_text("screen", tables_of(text or ""), view, documents[view], lists, met)
    text = run(strata, "report", trace, "--whole", "--md")
    for view in ("stages", "kernels", "gaps"):
        yield from check_text("Markdown", markdown_tables(text or ""), view, documents[view],
                              lists_of(strata, view), met)


def documents_of(strata, trace):
    documents = {}
    for view, command in VIEWS.items():
        limit = ["--limit", "0"] if view in LIMITED else []
        text = run(strata, *command, trace, "--whole", *limit, "--json")
        if not text:
            return None
        documents[view] = json.loads(text)
    return documents


def check_ranks(strata, folder, met):
    text = run(strata, "report", "--ranks", folder, "--json")
    if not text or not text.startswith("{"):
        return
    document, lists = json.loads(text), lists_of(strata, "ranks")
    for option, tables in (("-v", tables_of), ("--md", markdown_tables)):
        shown = run(strata, "report", "--ranks", folder, option) or ""
        yield from check_text("Markdown" if option == "--md" else "screen", tables(shown), "ranks", document,
                              lists, met)


def check_trace(strata, trace, folder, met):
    documents = documents_of(strata, trace)
    page = folder / "page.html"
    if not documents or run(strata, "report", trace, "--whole", "--html", page) is None:
        return
    head = read(page)[0]
    yield from check_screens(strata, trace, documents, met)
    yield from check_page(head, documents, met)
    yield from check_columns(head, strata, met)
    yield from check_sql(strata, trace, documents, met)
    yield from check_parquet(strata, trace, documents, folder, met)


# ---- the check itself

def self_check():
    """The check must be able to fail: a cell of another quantity, a rounded one, one that is missing."""
    good = [("9.63 ms", 9627.2), ("-", 0), ("-", None), ("1,003", 1003), ("<0.01 ms", 3.0), ("54.0 %", 53.98),
            ("1289 us", 1289.3), ("ab...yz", "ab cd yz"), ("723", 722.8)]
    bad = [("9.63 ms", 11330.0), ("-", 12.5), ("1,003", 1004), ("54.0 %", 53.8), ("1289 us", 1301.0),
           ("ab...yz", "abcd"), ("724", 722.8), ("busy", "idle")]
    sound = all(cell_fits(c, v, "x") for c, v in good) and not any(cell_fits(c, v, "x") for c, v in bad)
    screen = "  stage     CPU  GPU idle\n  load  1.00 ms   9.63 ms\n  run   2.00 ms         -\n"
    titles = [("path", "stage", "string"), ("cpu_us", "CPU", "number"), ("idle_us", "GPU idle", "number")]
    rows = [{"path": "load", "cpu_us": 1000.0, "idle_us": 9630.0},
            {"path": "run", "cpu_us": 2000.0, "idle_us": 0}]

    def faults(rows):
        met = collections.Counter()
        (heads, shown), = tables_of(screen)
        return list(check_table(heads, shown, rows, titles, ("screen",), met)), met["screen",]

    wrong = [{**rows[0], "idle_us": 11330.0}, rows[1]]
    return sound and faults(rows) == ([], 4) and len(faults(wrong)[0]) == 1


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--strata", required=True)
    p.add_argument("--some", action="store_true", help="not all lists need to be met")
    p.add_argument("folders", nargs="+", type=Path)
    args = p.parse_args()
    shared = Path(__file__).resolve().parents[2].parent / "shared/traces"
    folders = [*args.folders, *([shared] if shared.is_dir() and not args.some else [])]
    traces = find_traces([f for f in folders if f.is_dir()]) + [f for f in folders if f.is_file()]
    traces += sorted(p for f in folders if f.is_dir() for p in f.rglob("*") if p.name.endswith(ENDS))
    passed, failed, met = 0, 0 if self_check() else 1, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for trace in traces:
            if trace.stat().st_size > LARGEST:
                continue
            faults = list(check_trace(args.strata, trace, Path(folder), met))
            passed, failed = passed + (not faults), failed + bool(faults)
            for fault in faults[:6]:
                print(f"{trace}: {fault[:300]}")
        beside = collections.Counter(trace.parent for trace in traces if re.search(r"rank", trace.name))
        for ranks in sorted(f for f, n in beside.items() if n > 1):
            faults = list(check_ranks(args.strata, ranks, met))
            passed, failed = passed + (not faults), failed + bool(faults)
            for fault in faults[:6]:
                print(f"{ranks}: {fault[:300]}")
    for (rendering, name), n in sorted(met.items()):
        print(f"{rendering:10} {name:32} {n:8} cells")
    for missing in sorted(MET - set(met)) if not args.some else []:
        print(f"nothing was compared: {' '.join(missing)}")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
