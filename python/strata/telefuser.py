"""TeleFuser's profiling interface on top of strata: change the import, keep the code.

    from strata.telefuser import ProfilingContext, ProfilingContext4Debug

Differences, all on purpose: a stage is timed without stopping the device (sync=False), stages of
the same name in different places are kept apart, exceptions are counted as such, and stages inside
one another keep their own peaks, so reset_peak_memory has nothing left to do."""
from __future__ import annotations

import os
from typing import Any, Callable

import strata
from strata import memory as _memory
from strata._table import duration

GB = 1024 ** 3
MB = 1024 ** 2


class ProfilingContext:
    """A stage by TeleFuser's name: context manager, asynchronous too, and decorator."""

    def __init__(self, name: str, *, reset_peak_memory: bool = True,
                 capture_memory: bool = False) -> None:
        self.name = name
        self.capture_memory = capture_memory
        self._stage = strata.stage(name)

    def __enter__(self) -> ProfilingContext:
        if self.capture_memory:
            _memory.snapshot(f"before_{self.name}")
        self._stage.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stage.__exit__(*(error or (None, None, None)))
        if self.capture_memory:
            _memory.snapshot(f"after_{self.name}")

    async def __aenter__(self) -> ProfilingContext:
        return self.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self.__exit__(*error)

    def __call__(self, fn: Callable) -> Callable:
        return self._stage(fn)


class _NoContext:
    """What ProfilingContext4Debug is when debugging is off: functions come back unchanged."""

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name

    def __enter__(self) -> _NoContext:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    async def __aenter__(self) -> _NoContext:
        return self

    async def __aexit__(self, *error: Any) -> None:
        return None

    def __call__(self, fn: Callable) -> Callable:
        return fn


_debug = os.environ.get("TELEFUSER_PROFILE_DEBUG", "").strip().lower() == "true"
ProfilingContext4Debug: Any = ProfilingContext if _debug else _NoContext


# The timing registry.


def reset_timing_registry(request_id: str | None = None,
                          metadata: dict[str, Any] | None = None) -> None:
    """Starts a new report."""
    strata.reset(request_id, metadata)


def get_timing_report() -> dict[str, Any]:
    """The report as of now, by TeleFuser's keys and ours."""
    return strata.report()


def set_timing_metadata(key: str | dict[str, Any], value: Any = None) -> None:
    """Adds facts about the run to the report."""
    strata.set_metadata(**(key if isinstance(key, dict) else {key: value}))


def dump_timing_report(path: str | None = None) -> str | None:
    """Writes timing.json, to `path` or into the run's folder; returns where."""
    if path is None:
        path = os.environ.get("TELEFUSER_TIMING_REPORT")
    return _dump(path, "timing.json", strata.report())


def get_io_signatures() -> dict[str, Any]:
    """The signatures seen so far, by stage."""
    return _signatures()["stages"]


def dump_io_signatures(path: str | None = None) -> str | None:
    """Writes timing_io_signature.json, to `path` or into the run's folder; returns where."""
    return _dump(path, "timing_io_signature.json", _signatures())


def print_timing_summary() -> None:
    """The table, on standard output."""
    if strata.enabled:
        from strata._table import render
        print(render(strata.report(), None), end="")


def _signatures() -> dict[str, Any]:
    if not strata.enabled:
        return {"stages": {}}
    from strata._report import signatures
    return signatures()


def _dump(path: str | None, name: str, value: dict[str, Any]) -> str | None:
    if not strata.enabled:
        return None
    from strata import _files
    if path is not None:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    else:
        path = _files.claim(name, again=True)
    return path if path is not None and _files.write_json(path, value) else None


def compare_timing_reports(baseline: dict[str, Any], new: dict[str, Any]) -> str:
    """Two reports side by side, as Markdown. `strata compare` also says what is noise."""
    lines = ["| stage | before | after | change |", "|---|---:|---:|---:|"]
    names = list(dict.fromkeys([*baseline.get("stages", {}), *new.get("stages", {})]))
    for name in names:
        before = baseline.get("stages", {}).get(name, {}).get("duration_ms")
        after = new.get("stages", {}).get(name, {}).get("duration_ms")
        change = f"{100 * (after - before) / before:+.1f} %" if before and after is not None else "-"
        lines.append(f"| {name} | {duration(before)} | {duration(after)} | {change} |")
    return "\n".join(lines) + "\n"


# Where files go.


def set_pipeline_name(name: str) -> None:
    """Names the run; before its first stage."""
    os.environ["STRATA_PIPELINE"] = name
    _restart()


def set_profiler_output_dir(path: str) -> None:
    """The folder runs are kept in; before the first stage."""
    os.environ["STRATA_OUT"] = os.path.abspath(path)
    _restart()


def _restart() -> None:
    if strata.enabled:
        from strata._load import core
        core.set_place(os.environ.get("STRATA_OUT") or None, os.environ.get("STRATA_PIPELINE") or None)


def get_profiler_output_dir() -> str | None:
    """The folder of this run."""
    return strata.run_dir()


def enable_profiler_for_names(names: str | list[str]) -> None:
    """Takes a timeline of these stages (a list, or separated by commas, or *)."""
    if strata.enabled:
        from strata import _only
        _only.select([n.strip() for n in names.split(",")] if isinstance(names, str) else names)


def mark_as_worker_process(rank: int | None = None) -> None:
    """Not needed: every process writes its own files, and they are read together."""


# Memory.


def capture_memory_snapshot() -> dict[str, float]:
    """The memory of the device in most use, in MB."""
    return _in_mb(_memory.current())


def record_memory_snapshot(name: str) -> dict[str, float]:
    """Remembers the memory of this moment for the report."""
    return _in_mb(_memory.snapshot(name))


def set_memory_baseline() -> dict[str, float]:
    """What the report compares with."""
    return _in_mb(_memory.baseline())


def _in_mb(moment: dict[str, Any]) -> dict[str, float]:
    devices = list(moment["devices"].values())
    most = max(devices, key=lambda d: d["peak_reserved_bytes"]) if devices else {}
    return {f"{key}_mb": most.get(f"{key}_bytes", 0) / MB
            for key in ("allocated", "reserved", "peak_allocated", "peak_reserved")}


def get_memory_analysis() -> dict[str, Any]:
    """Snapshots, increase since the baseline, pool overhead and room left; MB and GB beside bytes."""
    found = _memory.analysis() or {"current": _memory.current(), "pools": {}, "snapshots": {}}
    out = dict(_in_mb(found["current"]))
    out.update({key.replace("_mb", "_gb"): value / 1024 for key, value in list(out.items())})
    for pool in found["pools"].values():
        out["pool_overhead_mb"] = pool["pool_overhead_bytes"] / MB
        out["pool_overhead_pct"] = pool["pool_overhead_pct"]
        if "remaining_bytes" in pool:
            out["remaining_memory_gb"] = pool["remaining_bytes"] / GB
            out["total_device_memory_gb"] = pool["total_bytes"] / GB
    for device in found.get("increase", {}).get("devices", {}).values():
        out["memory_increase_mb"] = device["allocated_bytes"] / MB
    out["snapshots"] = {name: _in_mb(s) for name, s in found["snapshots"].items()}
    if "baseline" in found:
        out["baseline"] = _in_mb(found["baseline"])
    return out


def print_memory_analysis() -> None:
    """The snapshots, on standard output."""
    print(_memory.table())


def reset_peak_memory_stats() -> None:
    """Resets torch's own peaks; those of stages are kept apart from them."""
    from strata._device import find
    accelerator = find()
    if accelerator is not None:
        for index in accelerator.devices():
            accelerator.reset_peaks(index)
