#!/usr/bin/env python3
"""What `--json` writes fits the JSON Schema of its view, in docs/format/schema.

    test_schema.py --strata BINARY [--update] DATA-FOLDER...

Every view is written for traces of all kinds (and for empty, cut, CPU-only and stage-only ones) and
held against its schema: every key is known, every key that is required is there, types are right.
--update makes the schemas of what was written: read the diff before you commit it.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "format" / "schema"
OF_TRACE = ["report", "stages", "steps", "gaps", "syncs", "launches", "memory", "kernels", "table", "info",
            "lint", "checklist", "whatif"]
NAMED = {"thresholds", "versions"}  # objects whose keys are names, not fixed
TRACES = ["tiny.json", "whatif/pingpong_v0.json.gz", "wan/wan_before_compile.json.gz",
          "matmul_add/64_bf16_cold_eager.json.gz", "torch/gpu_graph.json.gz", "torch/gpu_training.json.gz",
          "torch/memory.json.gz", "torch/threads.json.gz", "torch/unfinished.json.gz",
          "advice/gemm_fp32_stack.json.gz", "capture/h200_mix_torch.json.gz",
          "comm/slow_rank/rank0.json"]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


# ---- making a schema

class Shape:
    """What values of one place looked like."""

    def __init__(self):
        self.types, self.keys, self.objects, self.items = set(), {}, 0, None

    def see(self, value, name, shared):
        kind = kind_of(value)
        self.types.add(kind)
        if kind == "object":
            self.objects += 1
            for key, inner in value.items():
                self.keys.setdefault(key, [shared.get(key) or Shape(), 0])[1] += 1
                self.keys[key][0].see(inner, key, shared)
        elif kind == "array":
            self.items = self.items or Shape()
            for inner in value:
                self.items.see(inner, name, shared)

    def schema(self, name="", always=True):
        """A key that some rows leave out may be null; so may any number or text, when it is unknown."""
        types = set(self.types)
        if "number" in types:
            types -= {"integer"}
        if types & {"number", "string"} or (types and not always) or name.endswith("bytes"):
            types |= {"null"}
        made = {"type": sorted(types) if len(types) > 1 else next(iter(types))} if types else {}
        if "object" in types and name in NAMED:
            made["additionalProperties"] = {"type": ["number", "string", "null"]}
        elif "object" in types:
            made["properties"] = {k: s.schema(k, n == self.objects) for k, (s, n) in self.keys.items()}
            made["required"] = [k for k, (_, n) in self.keys.items() if n == self.objects]
            made["additionalProperties"] = False
        if self.items and self.items.types:
            made["items"] = self.items.schema(name)
        return made


def kind_of(value):
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return next(n for n, t in TYPES.items() if isinstance(value, t))


# ---- holding something against one

def fits(value, types):
    kind = kind_of(value)
    return kind in types or (kind == "integer" and "number" in types)


def faults(value, schema, path="$"):
    """The keywords that our schemas use."""
    types = schema.get("type")
    types = [types] if isinstance(types, str) else types
    if types and not fits(value, types):
        yield f"{path} is {kind_of(value)}, not {' or '.join(types)}"
        return
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from (f"{path} lacks {k}" for k in schema.get("required", []) if k not in value)
        for key, inner in value.items():
            if key in known:
                yield from faults(inner, known[key], f"{path}.{key}")
            elif others is False:
                yield f"{path} has {key}, which the schema does not"
            elif isinstance(others, dict):
                yield from faults(inner, others, f"{path}.{key}")
    if isinstance(value, list):
        for i, inner in enumerate(value):
            yield from faults(inner, schema.get("items", {}), f"{path}[{i}]")


def self_check():
    """The check must be able to fail."""
    schema = {"type": "object", "required": ["a"], "additionalProperties": False,
              "properties": {"a": {"type": ["number", "null"]},
                             "b": {"type": "array", "items": {"type": "string"}}}}
    good = [{"a": 1.5}, {"a": None, "b": ["x"]}, {"a": 2}]
    bad = [{}, {"a": "x"}, {"a": 1, "c": 1}, {"a": 1, "b": [1]}, {"a": True}, []]
    return all(not list(faults(v, schema)) for v in good) and all(list(faults(v, schema)) for v in bad)


# ---- what is written

def made_traces(folder, data):
    """Traces that no data file is like."""
    label = {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "dur": 90.0}
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 50.0, "args": {}}
    stages = [{**label, "ts": 100.0 * i} for i in range(4)]
    both = stages + [{**op, "ts": 100.0 * i + 10} for i in range(4)]
    rank = {"rank": 1, "world_size": 4}
    texts = {"empty": json.dumps({"traceEvents": []}), "stages": json.dumps({"traceEvents": stages}),
             "cpu": json.dumps({"traceEvents": both, "distributedInfo": rank}),
             "cut": (data / "tiny.json").read_text()[:5000]}
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text)
        yield folder / f"{name}.json"


def commands(data, folder):
    """Pairs: the view, the words of its command."""
    for trace in [*(data / t for t in TRACES), *made_traces(folder, data)]:
        for view in OF_TRACE:
            yield view, [view, trace]
        yield "kernels", ["kernels", trace, "--roof"]
    yield "dive", ["dive", data / "tiny.json"]
    (folder / "budget.txt").write_text("wall_ms <= 1\nsyncs_per_step <= 9\nstage no such stage gpu_ms <= 1\n")
    v0, wan = data / "whatif/pingpong_v0.json.gz", data / "wan/wan_before_compile.json.gz"
    ranks = data / "run_ranks"
    for trace in (v0, folder / "cut.json", folder / "cpu.json"):
        yield "check", ["check", trace, "--budget", folder / "budget.txt"]
    yield "syncs", ["syncs", wan, "--site", "1"]
    yield "whatif", ["whatif", v0, "--undistort", "--drop-cpu", "cache_context"]
    yield "diff", ["diff", v0, wan]
    yield "diff", ["diff", folder / "cpu.json", folder / "stages.json"]
    yield "diff", ["diff", v0, v0, v0, "vs", v0, v0, v0]
    yield "compare", ["compare", ranks / "timing_rank0.json", ranks / "timing_rank1.json"]
    yield "compare", ["compare", *[ranks / "timing_rank0.json"] * 3, "vs", *[ranks / "timing_rank1.json"] * 3]
    yield "ranks", ["ranks", data / "comm/slow_rank"]
    yield "run", ["stages", ranks]
    yield "run", ["stages", ranks / "timing_rank0.json"]
    yield "dive", ["dive", data / "dive/kernels.json.gz", "--ncu", data / "dive/h200_raw.csv"]
    yield "dive", ["dive", data / "dive/h200_details.csv"]
    for name in ("pageable_stream_all", "pinned_stream_all"):
        yield "offload", ["offload", data / f"offload/{name}.json.gz"]


def written(strata, words):
    done = subprocess.run([strata, *map(str, words), "--json"], capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1, 3) or (done.returncode == 3 and not done.stdout):
        raise SystemExit(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def write_schemas(shapes):
    SCHEMAS.mkdir(exist_ok=True)
    for view, shape in shapes.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema",
                  "title": f"strata: {view} --json", **shape.schema()}
        (SCHEMAS / f"{view}.schema.json").write_text(json.dumps(schema, indent=1) + "\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--strata", required=True)
    p.add_argument("--update", action="store_true")
    p.add_argument("folders", nargs="+", type=Path)
    args = p.parse_args()
    failed, n, shapes, quality = 0 if self_check() else 1, 0, {}, Shape()
    with tempfile.TemporaryDirectory() as folder:
        for view, words in commands(args.folders[0], Path(folder)):
            doc = written(args.strata, words)
            n += 1
            if view not in ("info", "compare", "ranks", "run") and "trace_quality" not in doc:
                failed += 1
                print(f"{view} has no trace_quality")
            if args.update:
                shared = {} if view == "diff" else {"trace_quality": quality}
                shapes.setdefault(view, Shape()).see(doc, view, shared)
                continue
            found = list(faults(doc, json.loads((SCHEMAS / f"{view}.schema.json").read_text())))
            failed += bool(found)
            for fault in found[:5]:
                print(f"strata {' '.join(map(str, words))}: {fault}")
    if args.update:
        write_schemas(shapes)
    print(f"{n - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
