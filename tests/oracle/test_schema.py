#!/usr/bin/env python3
"""What `--json` writes fits the JSON Schema that `strata help schema VIEW` prints.

    test_schema.py --strata BINARY DATA-FOLDER...

Every view is written for every trace below the folders and in ../shared/traces where that exists, for
our own recordings, and for empty, cut, CPU-only and stage-only traces, and held against its schema: every
key is known, every key that is required is there, types are right. Then every object and every value
of one document per view is spoilt in turn: the schema must refuse each.
"""
import argparse
import copy
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OF_TRACE = ["report", "stages", "steps", "gaps", "syncs", "memory", "kernels", "info", "whatif"]
MORE = {"launches": ["gaps", "--launches"], "lint": ["info", "--lint"]}  # views that an option asks for
# views that have no trace_quality at times
NO_TRACE = ("info", "memory", "compare", "ranks", "run", "offload", "dive")
ENDS = (".json", ".json.gz", ".json.zst", ".pt.trace.json", ".pftrace", ".xplane.pb", ".sqlite", ".strata")
LARGEST = 12 << 20  # bytes of a file; larger ones take minutes with sanitizers
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


# ---- holding something against a schema

def kind_of(value):
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return next(n for n, t in TYPES.items() if isinstance(value, t))


def fits(value, types):
    kind = kind_of(value)
    return kind in types or (kind == "integer" and "number" in types)


def faults(value, schema, path="$"):
    """The keywords that our schemas use."""
    if "anyOf" in schema:
        yield from min((list(faults(value, s, path)) for s in schema["anyOf"]), key=len)
        return
    types = schema["type"]
    types = [types] if isinstance(types, str) else types
    if not fits(value, types):
        yield f"{path} is {kind_of(value)}, not {' or '.join(types)}"
        return
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema["additionalProperties"]
        yield from (f"{path} lacks {k}" for k in schema.get("required", []) if k not in value)
        for key, inner in value.items():
            if key in known:
                yield from faults(inner, known[key], f"{path}.{key}")
            elif others is False:
                yield f"{path} has {key}, which the schema does not"
            else:
                yield from faults(inner, others, f"{path}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, inner in enumerate(value):
            yield from faults(inner, schema["items"], f"{path}[{i}]")


def self_check():
    """The check must be able to fail."""
    schema = {"type": "object", "required": ["a"], "additionalProperties": False,
              "properties": {"a": {"type": ["number", "null"]},
                             "b": {"type": "array", "items": {"type": "string"}}}}
    good = [{"a": 1.5}, {"a": None, "b": ["x"]}, {"a": 2}]
    bad = [{}, {"a": "x"}, {"a": 1, "c": 1}, {"a": 1, "b": [1]}, {"a": True}, []]
    return all(not list(faults(v, schema)) for v in good) and all(list(faults(v, schema)) for v in bad)


# ---- spoiling a document

def spoilt(doc):
    """Pairs: what was done, the document with one more key in an object, or a value of no type at all."""
    def places(value, path):
        yield value, path
        if isinstance(value, dict):
            for key in value:
                yield from places(value[key], [*path, key])
        elif isinstance(value, list) and value:
            yield from places(value[0], [*path, 0])

    for value, path in places(doc, []):
        if isinstance(value, list) or not path:
            continue
        # a number where there is an object, an object where there is anything else
        wrong = copy.deepcopy(doc)
        holder = wrong
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = 7.5 if isinstance(value, dict) else {"no": "type"}
        yield f"{path} of another type", wrong
        if isinstance(value, dict):
            more = copy.deepcopy(doc)
            inner = more
            for step in path:
                inner = inner[step]
            inner["surely_unknown"] = [None]
            yield f"{path} with one more key", more
    yield "one more key", {**doc, "surely_unknown": 1}
    yield "no object", [doc]


# ---- what is written

def made_traces(folder, data):
    """Traces that no data file is like."""
    label = {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "dur": 90.0}
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 50.0, "args": {}}
    stages = [{**label, "ts": 100.0 * i} for i in range(4)]
    both = stages + [{**op, "ts": 100.0 * i + 10} for i in range(4)]
    texts = [{**label, "ts": 1.0, "tid": "a text", "pid": "worker"}]
    rank = {"rank": 1, "world_size": 4}
    made = {"empty": json.dumps({"traceEvents": []}), "stages": json.dumps({"traceEvents": stages}),
            "cpu": json.dumps({"traceEvents": both, "distributedInfo": rank}),
            "texts": json.dumps({"traceEvents": texts}), "cut": (data / "tiny.json").read_text()[:5000]}
    for name, text in made.items():
        (folder / f"{name}.json").write_text(text)
        yield folder / f"{name}.json"


def recordings(folder, data):
    """Our own: rings of two programs as run folders, one of them with the timing of its stages."""
    for packed in sorted((data / "capture").glob("*_rings.t*")):
        run = folder / packed.name.split(".")[0]
        with tarfile.open(packed) as tar:
            tar.extractall(run)
        yield run


def traces(folders):
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name.endswith(ENDS) and not path.name.startswith("timing_") \
                    and ".expected." not in path.name and path.stat().st_size <= LARGEST:
                yield path


def of_trace(trace):
    for view in OF_TRACE:
        yield view, [view, trace]
    for view, words in MORE.items():
        yield view, [*words, trace]
    yield "table", ["table", trace]
    yield "table", ["table", trace, "--by", "shape"]
    yield "report", ["report", trace, "--whole"]
    yield "kernels", ["kernels", trace, "--roof"]


def commands(data, folder, more=()):
    """Pairs: the view, the words of its command."""
    for trace in [*traces([data]), *made_traces(folder, data), *recordings(folder, data)]:
        yield from of_trace(trace)
    for trace in traces(more):
        for view in ("report", "kernels", "info"):
            yield view, [view, trace]
        yield "table", ["table", trace, "--by", "shape"]
    for by in ("stack", "module"):
        yield "table", ["table", data / "torch/gpu_stack.json.gz", "--by", by]
    (folder / "budget.txt").write_text("wall_ms <= 1\nsyncs_per_step <= 9\nstage no such stage gpu_ms <= 1\n")
    v0, wan = data / "whatif/pingpong_v0.json.gz", data / "wan/wan_before_compile.json.gz"
    ranks = data / "run_ranks"
    for trace in (v0, folder / "cut.json", folder / "cpu.json"):
        yield "check", ["check", trace, "--budget", folder / "budget.txt"]
    yield "syncs", ["syncs", wan, "--site", "1"]
    yield "whatif", ["whatif", v0, "--undistort", "--drop-cpu", "cache_context"]
    yield "diff", ["diff", v0, wan]
    yield "diff", ["diff", folder / "cpu.json", folder / "stages.json"]
    yield "diff", ["diff", folder / "h200_mix_rings", folder / "h200_flux2_rings"]
    yield "long_recording", ["report", folder / "h200_flux2_rings", "--whole"]
    copies = [shutil.copy(v0, folder / f"run{i}.json.gz") for i in range(3)]  # a run counts once per side
    yield "diff", ["diff", *copies, "vs", *copies]
    yield "compare", ["diff", "--stages", ranks / "timing_rank0.json", ranks / "timing_rank1.json"]
    timings = [shutil.copy(ranks / f"timing_rank{i % 2}.json", folder / f"timing_{i}.json") for i in range(6)]
    yield "compare", ["diff", "--stages", *timings[::2], "vs", *timings[1::2]]
    yield "ranks", ["report", data / "comm/slow_rank"]
    yield "run", ["stages", ranks]
    yield "run", ["stages", ranks / "timing_rank0.json"]
    for snapshot in sorted((data / "memory").glob("*.pickle*")):
        yield "memory", ["memory", snapshot]
        yield "info", ["info", snapshot]
    yield "dive", ["dive", data / "tiny.json"]
    yield "dive", ["dive", data / "dive/kernels.json.gz", "--ncu", data / "dive/h200_raw.csv"]
    yield "dive", ["dive", data / "dive/h200_details.csv"]
    for name in ("pageable_stream_all", "pinned_stream_all"):
        yield "offload", ["offload", data / f"offload/{name}.json.gz"]
    yield "offload", ["offload", "--model-bytes", "24GB", "--compute-time", "500ms", "--steps", "8"]


class Check:
    def __init__(self, strata):
        self.strata, self.schemas, self.samples = strata, {}, {}

    def run(self, words, **env):
        done = subprocess.run([self.strata, *map(str, words)], capture_output=True, text=True, timeout=600,
                              env={**os.environ, **env})
        return done.returncode, done.stdout, done.stderr

    def schema(self, view):
        if view not in self.schemas:
            status, text, said = self.run(["help", "schema", view])
            assert status == 0, said
            self.schemas[view] = json.loads(text)
        return self.schemas[view]

    def view(self, pair):
        """Lines about what is wrong with one document; None where the command refuses the trace."""
        view, words = pair
        short = {"STRATA_TEST_MOST_RECORDS": "2000"} if view == "long_recording" else {}
        status, text, said = self.run([*words, "--json"], **short)
        if status in (2, 3) and not text:
            return None
        if status not in (0, 1, 3):
            return [f"status {status}: {said}"]
        doc = json.loads(text)
        found = list(faults(doc, self.schema(view)))
        if view != words[0]:  # a command has a schema, whatever it is asked for
            found += [f"as {words[0]}: {fault}" for fault in faults(doc, self.schema(words[0]))]
        if view not in NO_TRACE and "trace_quality" not in doc and "parts" not in doc:
            found.append("no trace_quality")
        if len(text) > len(self.samples.get(view, "")):
            self.samples[view] = text
        return found

    def accepts_spoilt(self, view):
        doc = json.loads(self.samples[view])
        return [what for what, wrong in spoilt(doc) if not list(faults(wrong, self.schema(view)))]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--strata", required=True)
    p.add_argument("folders", nargs="+", type=Path)
    args = p.parse_args()
    check, passed, failed = Check(args.strata), 0, 0 if self_check() else 1
    shared = Path(__file__).resolve().parents[2].parent / "shared/traces"
    views = [line.split()[0] for line in check.run(["help", "schema"])[1].splitlines()]
    for view in views:
        check.schema(view)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        pairs = list(commands(args.folders[0], Path(folder), [shared] if shared.is_dir() else []))
        for (_, words), found in zip(pairs, pool.map(check.view, pairs)):
            if found is None:
                continue
            passed, failed = passed + (not found), failed + bool(found)
            for fault in found[:5]:
                print(f"strata {' '.join(map(str, words))}: {fault}")
    for view in views:
        bad = check.accepts_spoilt(view) if view in check.samples else ["nothing was written"]
        passed, failed = passed + (not bad), failed + bool(bad)
        for what in bad[:5]:
            print(f"the schema of {view} accepts a document: {what}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
