"""Whether two trials computed the same: digests first, then the samples that were kept."""
from __future__ import annotations

import array
import math
import os
from typing import Any

from strata._try.trial import Trial

CLOSE = 0.02  # of the norm: what reduced precision may change
CLOSE_PSNR_DB = 30.0
# Of the usual size of all weights: smaller ones count as if they were so large. The bias of keys in
# attention has no gradient but rounding, and an optimizer that divides by its size moves it all the same.
LEAST_WEIGHT = 1e-3
ORDER = ("same", "close", "different")


def compare(a: Trial, b: Trial, are_weights: bool = False) -> dict[str, Any]:
    """The worst of what the two returned, unit by unit: verdict same, close, different or unknown."""
    shared = sorted(set(a.outputs) & set(b.outputs))
    found: dict[str, Any] = {"verdict": "unknown", "units": 0}
    for k in shared:
        one = _unit(a, b, k, LEAST_WEIGHT if are_weights else 0.0)
        if one["verdict"] == "unknown":
            continue
        units = found["units"] + 1
        if found["verdict"] == "unknown" or _is_worse(one, found):
            found = {**one, "k": k}
        found["units"] = units
    return found


def _is_worse(one: dict[str, Any], other: dict[str, Any]) -> bool:
    rank = ORDER.index(one["verdict"]), ORDER.index(other["verdict"])
    if rank[0] != rank[1]:
        return rank[0] > rank[1]
    return (one.get("relative") or 0.0) > (other.get("relative") or 0.0)


def _unit(a: Trial, b: Trial, k: int, share: float) -> dict[str, Any]:
    ours, theirs = a.outputs[k]["items"], b.outputs[k]["items"]
    if not ours and not theirs:
        return {"verdict": "unknown"}
    if [(x["path"], x["kind"], x["shape"]) for x in ours] != [
            (x["path"], x["kind"], x["shape"]) for x in theirs]:
        return {"verdict": "different", "why": _shapes(ours, theirs)}
    worst: dict[str, Any] = {"verdict": "unknown"}
    least = share * _usual_size([_samples(a, k, x) for x in ours if x["kind"] == "float"]) if share else 0.0
    for x, y in zip(ours, theirs):
        one = _item((x, _samples(a, k, x)), (y, _samples(b, k, y)), least)
        if one["verdict"] != "unknown" and (
                worst["verdict"] == "unknown" or _is_worse(one, worst)):
            worst = {**one, "path": x["path"]}
    return worst


def _shapes(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> str:
    for x, y in zip(ours, theirs):
        if x["shape"] != y["shape"]:
            return f"{x['path'] or 'the result'} has the shape {y['shape']}, not {x['shape']}"
    return "the results have different parts"


def _samples(trial: Trial, k: int, item: dict[str, Any]) -> array.array:
    values = array.array("d")
    try:
        with open(os.path.join(trial.folder, trial.outputs[k]["file"]), "rb") as f:
            f.seek(item["offset"])
            values.frombytes(f.read(8 * item["count"]))
    except (OSError, ValueError):
        pass
    return values


def _usual_size(items: list[array.array]) -> float:
    """The root of the mean square of all values."""
    values = [v for item in items for v in item if math.isfinite(v)]
    return math.hypot(*values) / math.sqrt(len(values)) if values else 0.0


Kept = tuple[dict[str, Any], array.array]  # what describes an item, and its samples


def _item(ours: Kept, theirs: Kept, least: float) -> dict[str, Any]:
    (x, a), (y, b) = ours, theirs
    if x["digest"] and x["digest"] == y["digest"]:
        return {"verdict": "same", "kind": x["kind"], "relative": 0.0}
    if x["kind"] == "text":
        return {"verdict": "different", "kind": "text", "relative": 1.0}
    if not a or len(a) != len(b):
        return {"verdict": "unknown"}
    equal = sum(u == v for u, v in zip(a, b))
    if equal == len(a) and not (x["digest"] and y["digest"]):
        return {"verdict": "same", "kind": x["kind"], "relative": 0.0, "sampled": True}
    if x["kind"] == "int":
        first = next((i for i, (u, v) in enumerate(zip(a, b)) if u != v), 0)
        return {"verdict": "different", "kind": "int", "equal_pct": 100 * equal / len(a),
                "first_difference": first, "relative": 1 - equal / len(a)}
    return _numbers(x["kind"], a, b, least)


def _numbers(kind: str, a: array.array, b: array.array, least: float) -> dict[str, Any]:
    if any(math.isfinite(u) != math.isfinite(v) for u, v in zip(a, b)):
        return {"verdict": "different", "kind": kind, "why": "values that are not finite",
                "relative": math.inf}
    pairs = [(u, v) for u, v in zip(a, b) if math.isfinite(u)]
    n = max(len(pairs), 1)
    off, norm = math.hypot(*(u - v for u, v in pairs)), math.hypot(*(u for u, _ in pairs))
    norm = max(norm, least * math.sqrt(n))
    out = {"kind": kind, "largest": max((abs(u - v) for u, v in pairs), default=0.0),
           "mean": sum(abs(u - v) / n for u, v in pairs), "relative": off / norm if norm else off}
    if kind == "image":
        out["psnr_db"] = 20 * math.log10(255 * math.sqrt(n) / off) if off else math.inf
        out["verdict"] = "close" if out["psnr_db"] >= CLOSE_PSNR_DB else "different"
    else:
        out["verdict"] = "close" if out["relative"] <= CLOSE else "different"
    return out


def judged(found: dict[str, Any], own: dict[str, Any] | None) -> dict[str, Any]:
    """Results that differ between two runs of the program itself say nothing about a fix."""
    if own is None or own["verdict"] in ("same", "unknown") or found["verdict"] in ("same", "unknown"):
        return found
    if (found.get("relative") or 0.0) <= 2 * (own.get("relative") or 0.0):
        return {**found, "verdict": "unknown", "why": "the program's own results differ as much from "
                "run to run"}
    return found
