"""What a profile of torch's spent its time on, by kernel and by operator."""
from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from strata._base import overhead

MOST_ROWS = 50
_PYTHON = re.compile(r"<built-in |.*\(\d+\): |nn\.Module: ")  # frames, as torch names them


def is_python(name: str) -> bool:
    """Whether a row of torch's is a frame of Python or a module, not an operator."""
    return _PYTHON.match(name) is not None


def of(profiler: Any, most: int | None = MOST_ROWS) -> dict[str, Any]:
    """The tables of a profile that was stopped, with at most that many rows each."""
    return break_down(rows_of(profiler), most)


def rows_of(profiler: Any) -> Any:
    """torch's own, if it can read all names: it keeps no copy of some, and gives up on the first."""
    try:
        return profiler.key_averages()
    except UnicodeDecodeError:
        return averages(profiler.profiler.kineto_results.events())


def averages(events: Any) -> list[Any]:
    """As torch's key_averages has them, of the events that have a name, but for Python functions."""
    rows: dict[tuple[str, str], Any] = {}
    open_calls: dict[int, list[tuple[Any, Any]]] = {}
    for event in sorted(events, key=lambda e: (e.start_ns(), -e.duration_ns())):
        row = _row_of(event, rows)
        if row is None:
            continue
        us = event.duration_ns() / 1e3
        row.count += 1
        if not row.device_type.endswith("CPU"):
            row.self_device_time_total += us
            row.device_time_total += us
            continue
        row.self_cpu_time_total += us
        row.cpu_time_total += us
        around = open_calls.setdefault(event.start_thread_id(), [])
        while around and around[-1][0].end_ns() <= event.start_ns():
            around.pop()
        if around:
            around[-1][1].self_cpu_time_total -= us
        around.append((event, row))
    return list(rows.values())


def _row_of(event: Any, rows: dict[tuple[str, str], Any]) -> Any:
    try:
        name = event.name()
    except UnicodeDecodeError:
        return None
    kind = str(event.device_type())
    if is_python(name):
        return None
    return rows.setdefault((name, kind), SimpleNamespace(
        key=name, count=0, device_type=kind, self_cpu_time_total=0.0, self_device_time_total=0.0,
        cpu_time_total=0.0, device_time_total=0.0,
        is_user_annotation=event.is_user_annotation()))


def break_down(rows: Any, most: int | None = MOST_ROWS) -> dict[str, Any]:
    """Kernels by device time and operators by their own time. Operators contain each other and
    annotations contain operators, so only times of their own are added up; Python functions, which
    torch lists among them where stacks are recorded, are not operators."""
    kernels, operators = [], []
    overhead_ms = 0.0
    for row in rows:
        on_cpu = str(row.device_type).endswith("CPU")
        if getattr(row, "is_user_annotation", False) or is_python(row.key):
            continue
        noted = overhead.kind(row.key)
        if noted == overhead.PROFILER:
            overhead_ms += row.self_cpu_time_total / 1e3
        elif noted:
            continue
        elif on_cpu:
            operators.append({"name": row.key, "calls": row.count,
                              "self_cpu_ms": row.self_cpu_time_total / 1e3})
        else:
            kernels.append({"name": row.key, "calls": row.count,
                            "total_ms": row.self_device_time_total / 1e3})
    kernels.sort(key=lambda k: -k["total_ms"])
    operators.sort(key=lambda o: -o["self_cpu_ms"])
    return {"num_kernels": sum(k["calls"] for k in kernels),
            "total_kernel_time_ms": sum(k["total_ms"] for k in kernels),
            "total_self_cpu_ms": sum(o["self_cpu_ms"] for o in operators),
            "profiler_overhead_ms": overhead_ms,
            "top_kernels": kernels[:most], "top_operators": operators[:most]}
