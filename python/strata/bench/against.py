"""Does the stage do the same alone as in the full run? Outputs of the same shapes, the same kernels in
the same order, the same time; and if not, possible reasons: hooks, caches, another machine."""
from __future__ import annotations

import glob
import json
import os
from typing import Any

from strata._base import run_files
from strata._record import call_state, io_signature
from strata.bench import files, timeline
from strata.bench.signatures import Signature

NEAR_MS = 0.01  # what measuring itself may cost or hide
FEW_CALLS = 3  # fewer in the full run: its time includes the warm-up


def _read(path: str) -> dict[str, Any]:
    try:
        with run_files.open_found(path) as f:
            found = json.load(f)
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def shapes(d: dict[str, Any]) -> list[tuple[list[int], str]]:
    """Shape and type of every tensor in a description, in order."""
    if d["kind"] == "tensor":
        return [(d["shape"], d["dtype"])]
    inner = [v for _, v in d["items"]] if d["kind"] == "dict" else d.get("items", [])
    return [s for v in [*inner, *d.get("fields", {}).values()] for s in shapes(v)]


def outputs(signature: Signature, result: Any) -> dict[str, Any]:
    """Compares what came out with what came out in the full run."""
    wanted, got = shapes(signature.found["output"]), shapes(io_signature.plain(result))
    out = {"check": "outputs", "same": wanted == got, "tensors": len(got)}
    if wanted != got:
        parts = [(a, b) for a, b in zip(wanted, got) if a != b]
        out["detail"] = (f"{_shape(parts[0][1])}, in the full run {_shape(parts[0][0])}" if parts else
                         f"{len(got)} tensors, in the full run {len(wanted)}")
    return out


def _shape(pair: tuple[list[int], str]) -> str:
    return f"{pair[1]}{pair[0]}"


class FullTrace:
    """A timeline of the full run in which the stage's own work can be found."""

    def __init__(self, path: str, stage: str) -> None:
        self.path = path
        found = timeline.events(path)
        self.labelled = timeline.is_labelled(found, stage)
        self.work = timeline.work_of(found, stage)


def full_trace(folder: str, stage: str) -> FullTrace | None:
    """A timeline of the stage that the full run recorded: of that stage alone (strata run --only STAGE),
    or one in which its label stands. A run without a timeline leaves traces, too, of stages only:
    those say nothing about kernels."""
    for pattern, needs_label in ((f"{files.clean(stage)}_trace*.json.gz", False),
                                 ("trace*.json.gz", True)):
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern)), reverse=True):
            found = _readable(path, stage)
            if found and found.work.steps and (found.labelled or not needs_label):
                return found
    return None


def _readable(path: str, stage: str) -> FullTrace | None:
    """A trace that the run left half written is none."""
    try:
        return FullTrace(path, stage)
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None


def work(stage: str, alone: str, full: FullTrace) -> dict[str, Any]:
    """Compares the sequence of kernels (operators, where there is no device) of two traces."""
    mine = timeline.work_of(timeline.events(alone), stage)
    theirs = full.work
    if mine.kind != theirs.kind:
        return {"check": "kernels", "same": False, "of": mine.kind,
                "detail": f"{mine.kind} here, {theirs.kind} in the full run: different devices"}
    out = {"check": "kernels", "same": not mine.difference(theirs), "of": mine.kind,
           "alone": len(mine.steps), "full": len(theirs.steps), "trace": os.path.basename(full.path)}
    if not out["same"]:
        out["detail"] = mine.difference(theirs)
        out["only_alone"], out["only_full"] = (v[:10] for v in mine.only_on_one_side(theirs))
    return out


def duration(folder: str, path: str, times: dict[str, Any],
             tolerance_pct: float) -> dict[str, Any] | None:
    """Compares the median time with that of the full run's timing.json: the same if within the
    tolerance, or within the interval of the median if that is wider, or within the spread of the full
    run's own calls; ten microseconds do not count."""
    stages = _read(os.path.join(folder, "timing.json")).get("stages", {})
    found = stages.get(path)
    if not found:
        return None
    on_device = "gpu" in times and found.get("gpu_median_ms")
    full = found["gpu_median_ms"] if on_device else found["median_ms"]
    mine = times["gpu" if on_device else "wall"]
    change = 100 * (mine["median_ms"] / full - 1) if full else 0.0
    slack = tolerance_pct / 100
    in_spread = mine["low_ms"] * (1 - slack) <= full <= mine["high_ms"] * (1 + slack)
    near = abs(mine["median_ms"] - full) <= NEAR_MS
    own = 0.0 if on_device else _spread_pct(found)
    return {"check": "time", "same": abs(change) <= max(tolerance_pct, own) or in_spread or near,
            "of": "gpu" if on_device else "wall", "alone_ms": mine["median_ms"], "full_ms": full,
            "change_pct": change, "full_spread_pct": own, "calls": found["count"],
            "tolerance_pct": tolerance_pct, "few_calls": found["count"] < FEW_CALLS}


P95_SIGMAS = 1.645  # of a normal distribution, from its median


def _spread_pct(stage: dict[str, Any]) -> float:
    """By how much calls of the full run differ from their median: one standard deviation, from the 95th
    percentile, because first calls and single outliers do not move that."""
    median, p95 = stage.get("median_ms"), stage.get("p95_ms")
    if not median or not p95 or stage.get("count", 0) < FEW_CALLS:
        return 0.0
    return 100 * max(p95 - median, 0.0) / P95_SIGMAS / median


def state(signature: Signature, owner: Any, written: list[str]) -> list[str]:
    """What about the object is not as it was in the full run, in words."""
    notes: list[str] = []
    recorded = signature.found.get("state", {})
    if owner is None or not recorded:
        return notes
    now = f"{type(owner).__module__}.{type(owner).__qualname__}"
    if recorded.get("type") != now:
        notes.append(f"it is a {now} here, in the full run it was a {recorded.get('type')}")
    if "hooks" in recorded and hasattr(owner, "modules"):
        notes += _hooks(recorded["hooks"], call_state.hooks(owner))
        if recorded.get("training") != owner.training:
            mode = "training" if recorded.get("training") else "evaluation"
            notes.append(f"in the full run it was in {mode} mode, here it is not")
    if written:
        notes.append(f"it writes into its inputs ({', '.join(written[:4])}): they are restored "
                     "before every call")
    return notes


def _hooks(then: dict[str, int], now: dict[str, int]) -> list[str]:
    gone = {k: n for k, n in then.items() if now.get(k) != n}
    new = {k: n for k, n in now.items() if k not in then}
    notes = []
    if gone:
        words = ", ".join(f"{k} ({n}, here {now.get(k, 0)})" for k, n in gone.items())
        notes.append(f"hooks of the full run that differ here: {words}; offloading or caching makes "
                     "a difference")
    if new:
        notes.append(f"hooks that the full run did not have: {', '.join(new)}")
    return notes


def machine(folder: str, device_name: str) -> list[str]:
    """Whether it was another machine or another torch."""
    found = _read(os.path.join(folder, "environment.json"))
    notes = []
    import torch
    then = found.get("packages", {}).get("torch")
    if then and then != torch.__version__:
        notes.append(f"torch {torch.__version__} here, {then} in the full run")
    threads = found.get("torch", {}).get("threads")
    if threads and threads != torch.get_num_threads():
        notes.append(f"torch computes on {torch.get_num_threads()} threads here, on {threads} in the full "
                     "run: OMP_NUM_THREADS or torch.set_num_threads differ")
    names = {d.get("name") for d in found.get("devices", []) if d.get("name")}
    if names and device_name not in names:
        notes.append(f"{device_name} here, {', '.join(sorted(names))} in the full run")
    return notes
