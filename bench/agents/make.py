#!/usr/bin/env python3
"""make.py --traces DIR [DIR...]: writes questions.jsonl: traces with a known cause and a measured gain.

The programs are those of bench/advice (DIR is what its measure.py wrote) and traces of tests/data whose fixes
were measured the same way. A line holds what is asked, where the trace comes from, and what is right."""
import argparse
import ast
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADVICE = HERE.parent / "advice"
OUT = HERE / "questions.jsonl"
WORTH_PCT = 5  # a fix that gains less is none
RECORDERS = "full", "strata", "light"  # with lines first
QUESTION = ("This is a trace of a program that runs a loop on one GPU. Which single change gains the most "
            "wall-clock time, on which line, and by how many percent does the wall clock shrink? Say "
            "`nothing` if no change gains 5 % or more.")
LIBRARIES = "diffusers", "transformers", "jax", "cupy"
SHARED = "parts.py", "loading.py"  # what several programs import: as much theirs as their own file

# Where the words of bench/advice name a rule of strata's, what others would say.
PLAIN = {"sync_in_loop": r"readback|copied (back )?to the CPU|constant upload|synchroni[sz]e|blocking sync",
         "pageable_copy": r"pageable", "exposed_copy": r"copies? (is|are) not overlapped|non_blocking",
         "allocation_in_loop": r"cudaMalloc|cudaFree"}

# Traces of this repository: cause, place and gain are written down in the notes of their recording.
KNOWN = [
    {"id": "pingpong", "trace": "tests/data/whatif/pingpong_v0.json.gz", "kind": "host",
     "fixes": [{"name": "no_walk", "words": r"(?i)cache_context", "gain_pct": 32.9},
               {"name": "no_item", "words": r"(?i)\.item\(\)|aten::item|readback", "gain_pct": 21.8}]},
    {"id": "gpubound", "trace": "tests/data/whatif/gpubound_v0.json.gz", "kind": "healthy", "fixes": []},
    {"id": "attention_math", "trace": "tests/data/advice/attention_math_stack.json.gz", "kind": "gpu",
     "fixes": [{"name": "flash", "words": r"(?i)scaled_dot_product_attention|\bsdpa\b|\bflash|fused backend",
                "gain_pct": 94.3}], "place": {"file": "advice.py"}},
    {"id": "gemm_fp32_stack", "trace": "tests/data/advice/gemm_fp32_stack.json.gz", "kind": "gpu",
     "fixes": [{"name": "tf32", "words": r"(?i)\btf32\b|float32_matmul_precision", "gain_pct": 86.6},
               {"name": "bf16", "words": r"(?i)\bbf16\b|\bbfloat16\b", "gain_pct": 93.3}],
     "place": {"file": "advice.py"}},
    {"id": "elementwise_chain_stack", "trace": "tests/data/advice/elementwise_chain_stack.json.gz",
     "kind": "gpu", "fixes": [{"name": "compile", "words": r"(?i)torch\.compile|\bfuse", "gain_pct": 80.8}],
     "place": {"file": "advice.py"}},
    {"id": "wan_scheduler", "trace": "tests/data/wan/wan_before_compile.json.gz", "kind": "healthy",
     "fixes": []},
    {"id": "flux2_scheduler", "trace": "tests/data/flux2/flux2_before_compile.json.gz", "kind": "healthy",
     "fixes": []},
]


def place_of(case):
    """The lines of the program; None where the work is done in a library, whose lines are as right."""
    [path] = [p for p in (ADVICE / "cases" / f"{case}.py", ADVICE / "held" / f"{case}.py") if p.exists()]
    text = path.read_text()
    if any(name in text for name in LIBRARIES):
        return None
    lines = [n.lineno for n in ast.walk(ast.parse(text)) if hasattr(n, "lineno")]
    return {"file": path.name, "lines": [min(lines), max(lines)], "also": list(SHARED)}


def plain(words):
    for rule, others in PLAIN.items():
        words = words.replace(rule, others)
    return words


def question_of(case):
    recorder = next((r for r in RECORDERS if r in case["seen_by"] and r in case["traces"]), None)
    if recorder is None:
        return None
    gains = {name: v["gain_pct"] for name, v in case["variants"].items()}
    fixes = [{"name": f["name"], "words": plain(f["says"]), "gain_pct": gains[f["name"]]}
             for f in case.get("fixes", []) if gains.get(f["name"], 0) >= WORTH_PCT]
    if case["kind"] != "healthy" and not fixes:
        return None
    asked = {"id": case["case"], "trace": "advice:" + case["traces"][recorder]["file"], "kind": case["kind"],
             "fixes": sorted(fixes, key=lambda f: -f["gain_pct"])}
    place = place_of(case["case"]) if recorder != "light" and fixes else None
    return asked | ({"place": place} if place else {})


def measured(folders):
    """The latest measurement of each case, with the traces that were small enough to be kept."""
    cases = {}
    for folder in folders:
        for file in sorted(Path(folder).glob("**/advice.json")):
            found = json.loads(file.read_text())
            too_large = {word.split()[0] for word in found.get("dropped", [])}
            for case in found["cases"]:
                kept = {r: t for r, t in case["traces"].items() if t.get("file") not in too_large | {None}}
                cases[case["case"]] = case | {"traces": kept}
    return [cases[name] for name in sorted(cases)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--traces", nargs="+", required=True, metavar="DIR")
    args = parser.parse_args()
    rows = KNOWN + [q for case in measured(args.traces) if (q := question_of(case))]
    with OUT.open("w") as out:
        for row in rows:
            out.write(json.dumps({"id": row["id"], "question": QUESTION, **row}) + "\n")
    print(f"{len(rows)} questions in {OUT.name}")


if __name__ == "__main__":
    main()
