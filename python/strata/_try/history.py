"""How good the predictions have been on this machine: one row per fix that was predicted and
measured, in predictions.csv in the cache folder. It never leaves the machine."""
from __future__ import annotations

import contextlib
import csv
import os
import time
from typing import Any

from strata._try import judge

COLUMNS = ("time", "program", "device", "torch", "fix", "rule", "predicted_pct", "measured_pct",
           "low_pct", "high_pct", "verdict", "outputs")


def path() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "strata", "predictions.csv")


def add(result: dict[str, Any]) -> int:
    """Appends what a result has; the number of rows. A cache that cannot be written is left alone."""
    rows = [_row(result, f) for f in result["fixes"]
            if f["predicted_pct"] is not None and f["measured"] is not None]
    if not rows:
        return 0
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path()), exist_ok=True)
        with open(path(), "a", newline="", encoding="utf-8") as f:
            writer = csv.writer(f)
            if f.tell() == 0:
                writer.writerow(COLUMNS)
            writer.writerows(rows)
    return len(rows)


def _row(result: dict[str, Any], f: dict[str, Any]) -> list[Any]:
    m = f["measured"]
    return [time.strftime("%Y-%m-%dT%H:%M:%S"), result["program"],
            result["machine"].get("device_name") or result["machine"].get("device", ""),
            result["machine"].get("torch", ""), f["fix"], f["rule"], round(-f["predicted_pct"], 2),
            round(m["change_pct"], 2), _rounded(m["low_pct"]), _rounded(m["high_pct"]), m["verdict"],
            f["outputs"]["verdict"]]


def _rounded(v: float | None) -> float | str:
    return "" if v is None else round(v, 2)


def read() -> list[dict[str, Any]]:
    """All rows; those that cannot be read are left out."""
    try:
        with open(path(), newline="", encoding="utf-8", errors="replace") as f:
            rows = list(csv.DictReader(f))
    except OSError:
        return []
    out = []
    for row in rows:
        try:
            numbers = {k: float(row[k]) for k in ("predicted_pct", "measured_pct")}
            span = {k: float(row[k]) if row[k] else None for k in ("low_pct", "high_pct")}
        except (KeyError, TypeError, ValueError):
            continue
        settled = not judge.is_open(str(row.get("verdict")), span["low_pct"], span["high_pct"])
        out.append({**row, **numbers, **span, "settled": settled})
    return out


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By fix: how many, and the median distance of measured from predicted, in points; of trials
    that are settled."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in (r for r in rows if r["settled"]):
        groups.setdefault(str(row.get("fix", "")).split(":")[0], []).append(row)
    out = []
    for name, found in sorted(groups.items()):
        errors = sorted(r["measured_pct"] - r["predicted_pct"] for r in found)
        sizes = sorted(abs(e) for e in errors)
        out.append({"fix": name, "trials": len(found), "median_error_points": _middle(errors),
                    "median_distance_points": _middle(sizes), "worst_distance_points": sizes[-1]})
    return out


def _middle(values: list[float]) -> float:
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2
