"""The timeline of one call: written as a trace, read back as the sequence of work in it, and broken
down by kernels and operators through the strata command, which has one answer to each of these."""
from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable
from typing import Any

from strata._base import command, run_files

DEVICE_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
LAUNCHES = ("cuda_runtime", "cuda_driver", "privateuse1_runtime", "xpu_runtime")
MOST_ROWS = 50


class Work:
    """What one call did, in order: (name, how it was launched)."""

    def __init__(self, kind: str, steps: list[tuple[str, str]]) -> None:
        self.kind = kind  # "kernels" or "operators"
        self.steps = steps

    def difference(self, other: Work) -> str:
        """Empty if both are the same, else the first difference. Where one of them does not say how
        (a recording has no shapes of operators), names are compared."""
        for i, (mine, theirs) in enumerate(zip(self.steps, other.steps)):
            if mine[0] != theirs[0] or (mine[1] != theirs[1] and mine[1] and theirs[1]):
                same_name = mine[0] == theirs[0]
                a, b = (mine[1], theirs[1]) if same_name else (mine[0], theirs[0])
                where = f"{self.kind[:-1]} {i + 1}"
                return f"{where} is {_cut(a)}, in the full run {_cut(b)}" + (
                    f" ({_cut(mine[0])})" if same_name else "")
        if len(self.steps) != len(other.steps):
            return f"{len(self.steps):,} {self.kind}, in the full run {len(other.steps):,}"
        return ""

    def only_on_one_side(self, other: Work) -> tuple[list[str], list[str]]:
        """Names that are here and not there, and the other way round, most frequent first."""
        mine, theirs = Counter(n for n, _ in self.steps), Counter(n for n, _ in other.steps)
        return ([n for n, _ in (mine - theirs).most_common()],
                [n for n, _ in (theirs - mine).most_common()])


def _cut(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[:width - 3] + "..."


def events(path: str) -> list[dict[str, Any]]:
    """The events of a trace, packed or not."""
    with run_files.open_found(path) as f:
        content = json.load(gzip.open(f) if path.endswith(".gz") else f)
    found = content.get("traceEvents", []) if isinstance(content, dict) else content
    return [e for e in found if isinstance(e, dict) and e.get("ph") == "X"]


def _calls(found: list[dict[str, Any]], stage: str) -> list[dict[str, Any]]:
    return [e for e in found if e.get("cat") == "user_annotation" and e["name"] == stage]


def is_labelled(found: list[dict[str, Any]], stage: str) -> bool:
    """Whether a call of the stage has its label in the trace."""
    return bool(_calls(found, stage))


def work_of(trace: Iterable[dict[str, Any]], stage: str) -> Work:
    """The work of the last call of a stage, or of the whole trace if no stage has that name."""
    found = list(trace)
    spans = _calls(found, stage)
    span = max(spans, key=lambda e: e["ts"]) if spans else None
    if any(e.get("cat") == "kernel" for e in found):
        return Work("kernels", _device_work(found, span))
    return Work("operators", _operators(found, span))


def _inside(e: dict[str, Any], span: dict[str, Any] | None) -> bool:
    return span is None or (e["tid"] == span["tid"] and span["ts"] <= e["ts"]
                            and e["ts"] <= span["ts"] + span["dur"])


def _device_work(found: list[dict[str, Any]], span: dict[str, Any] | None) -> list[tuple[str, str]]:
    launched = {e["args"]["correlation"] for e in found if e.get("cat") in LAUNCHES
                and "correlation" in e.get("args", {}) and _inside(e, span)}
    work = [e for e in found if e.get("cat") in DEVICE_WORK
            and (span is None or e["args"].get("correlation") in launched)]
    work.sort(key=lambda e: (e["args"].get("correlation", 0), e["ts"]))
    return [(e["name"], _launch(e["args"])) for e in work]


def _launch(args: dict[str, Any]) -> str:
    if "grid" in args:
        return f"grid {args['grid']} block {args['block']}"
    return f"{args['bytes']} bytes" if "bytes" in args else ""


def _operators(found: list[dict[str, Any]], span: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Operators that no other operator called."""
    ops = sorted((e for e in found if e.get("cat") == "cpu_op" and _inside(e, span)),
                 key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    top, end, thread = [], -1.0, None
    for e in ops:
        if e["tid"] != thread or e["ts"] >= end:
            top.append((e["name"], str(e.get("args", {}).get("Input Dims", ""))))
            thread, end = e["tid"], e["ts"] + e["dur"]
    return top


def ask(view: str, trace: str, *options: str) -> dict[str, Any]:
    """What a view of the strata command says as JSON; empty when there is no such command."""
    program = command.program()
    if program is None:
        return {}
    done = subprocess.run([program, view, trace, "--json", *options], capture_output=True,
                          text=True, check=False, timeout=600)
    try:
        return json.loads(done.stdout) if done.returncode == 0 else {}
    except ValueError:
        return {}


def break_down(trace: str, stage: str, calls: int = 1) -> dict[str, Any]:
    """Kernels by their own device time, with families, and operators by their own CPU time. Times
    are those of the whole trace, which holds `calls` calls of the stage and nothing else."""
    kernels = [_kernel(r) for r in ask("kernels", trace).get("rows", [])]
    table = ask("table", trace, "--limit", "0", "--sort", "self_cpu")
    operators = [{"name": r["name"], "calls": r["calls"], "self_cpu_ms": r["self_cpu_us"] / 1e3}
                 for r in table.get("rows", []) if r["device"] == "cpu" and not r["is_annotation"]]
    operators.sort(key=lambda r: -r["self_cpu_ms"])
    stages = [s for s in ask("stages", trace).get("stages", []) if s["name"] == stage]
    out = {"name": stage, "trace": os.path.basename(trace), "calls": calls,
           "num_kernels": sum(k["calls"] for k in kernels if k["kind"] == "kernel"),
           "total_kernel_time_ms": sum(k["total_ms"] for k in kernels),
           "gpu_busy_ms": sum(s["gpu_busy_us"] for s in stages) / 1e3 if stages else None,
           "gpu_idle_ms": sum(s["idle_us"] for s in stages) / 1e3 if stages else None,
           "total_self_cpu_ms": sum(o["self_cpu_ms"] for o in operators),
           "families": _families(kernels),
           "top_kernels": kernels[:MOST_ROWS], "top_operators": operators[:MOST_ROWS]}
    return out


def _kernel(r: dict[str, Any]) -> dict[str, Any]:
    kept = {key: r.get(key) for key in ("name", "short_name", "kind", "family", "calls",
                                        "share_pct", "occupancy_pct", "op")}
    return {**kept, "total_ms": r["total_us"] / 1e3, "median_ms": r["median_us"] / 1e3}


def _families(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Time by kind of kernel; every kernel is in exactly one."""
    found: dict[str, dict[str, Any]] = {}
    for k in kernels:
        row = found.setdefault(k["family"], {"family": k["family"], "calls": 0, "total_ms": 0.0})
        row["calls"] += k["calls"]
        row["total_ms"] += k["total_ms"]
    total = sum(r["total_ms"] for r in found.values())
    for r in found.values():
        r["share_pct"] = 100 * r["total_ms"] / total if total else 0.0
    return sorted(found.values(), key=lambda r: -r["total_ms"])
