"""The table at the end of a run, for people: at most 100 columns, three significant digits."""
from __future__ import annotations

import os
from typing import Any

from strata._base.units import WIDTH, count, duration, shorten, size

MOST_ROWS = 40  # as `strata stages` shows by default
FIRST_CALL_SLOW = 3.0  # times the median,
FIRST_CALL_SLOW_MS = 1.0  # and this much longer: worth reporting


def _peak(memory: dict[str, Any]) -> float | None:
    devices = memory.get("devices")
    if devices:
        return max(d["peak_reserved_bytes"] for d in devices.values())
    return memory.get("rss_peak_bytes")


def _remark(stage: dict[str, Any]) -> str:
    errors = stage.get("errors")
    if errors:
        return f"{errors} ended with an exception"
    first, median = stage["first_ms"], stage["median_ms"]
    if stage["count"] > 2 and first > FIRST_CALL_SLOW * median > 0 \
            and first - median > FIRST_CALL_SLOW_MS:
        times = first / median
        return f"first call {times:.0f}x slower: compile or warm-up"
    if stage["duration_ms"] >= stage.get("awaited_ms", 0) > stage.get("active_ms", 0):
        return f"awaited {duration(stage['awaited_ms'])} of it"
    return ""


def _rows(report: dict[str, Any]) -> list[list[str]]:
    on_device = any("gpu_ms" in s for s in report["stages"].values())
    head = ["stage", "calls", "total", "median", "p95", "first"]
    head += ["GPU", "peak mem"] if on_device else ["peak mem"]
    rows = [head + [""]]
    for path, stage in report["stages"].items():
        indent = "  " * path.count("/")
        many = stage["count"] > 1
        row = [indent + stage["name"], count(stage["count"]), duration(stage["duration_ms"] or None),
               duration(stage["median_ms"]) if stage["count"] else "-",
               duration(stage["p95_ms"]) if many else "-",
               duration(stage["first_ms"]) if stage["count"] else "-"]
        if on_device:
            row.append(duration(stage.get("gpu_median_ms")))
        rows.append([*row, size(_peak(stage["memory"])), _remark(stage)])
    return rows


def _near(folder: str) -> str:
    """The folder as people name it from where they are, if they are anywhere: it may be gone."""
    try:
        near = os.path.relpath(folder)
    except OSError:
        return folder
    return folder if near.startswith("../../..") else near


def _stages(n: int) -> str:
    return f"{n} stage{'' if n == 1 else 's'}"


def render(report: dict[str, Any], folder: str | None) -> str:
    """The table and what to do next. `folder` is where the run's files are, None where they could not be
    written, "" where none are due yet."""
    rows = _rows(report)
    widths = [max(len(r[c]) for r in rows) for c in range(1, len(rows[0]) - 1)]
    name = min(max(len(r[0]) for r in rows), 40)
    lost = report["lost_records"]
    where = "" if folder == "" else _near(folder) + "/" if folder else "(nothing written)"
    lines = [f"strata: {_stages(report['num_stages'])}, {duration(report['wall_clock_ms'])}, "
             f"{lost:,} records lost" + (f"  -> {where}" if where else "")]
    for row in rows[:1 + MOST_ROWS]:
        cells = "  ".join(cell.rjust(w) for cell, w in zip(row[1:-1], widths))
        line = f"  {shorten(row[0], name).ljust(name)}  {cells}"
        room = WIDTH - len(line) - 3
        remark = row[-1] if len(row[-1]) <= room else ""
        lines.append((line + ("   " + remark if remark else "")).rstrip())
    if len(rows) > 1 + MOST_ROWS:
        lines.append(f"  ... {len(rows) - 1 - MOST_ROWS} more"
                     + (f": strata stages {where.rstrip('/')} --limit 0" if folder else ""))
    if folder:
        lines.append(f"next: strata stages {where.rstrip('/')}")
    return "\n".join(lines) + "\n"
