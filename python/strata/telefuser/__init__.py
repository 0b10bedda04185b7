"""TeleFuser's profiling interface on top of strata: change the import, keep the code.

    from strata.telefuser import ProfilingContext, ProfilingContext4Debug

Its environment variables are obeyed: ENABLE_PROFILER_NAMES, TELEFUSER_PROFILE_DEBUG,
PROFILER_OUTPUT_DIR (./profiler_output by default), TELEFUSER_PROFILER_OUTPUT_DIR,
TELEFUSER_PIPELINE_NAME, TELEFUSER_TIMING_REPORT, TELEFUSER_TORCH_PROFILER_*.

Differences, all on purpose: a stage is timed without stopping the device (sync=False), stages of
the same name in different places are kept apart, exceptions are counted as such, and stages inside
one another keep their own peaks, so reset_peak_memory has nothing left to do."""
from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import strata
from strata import memory as _memory
from strata._base.units import duration
from strata.telefuser import lines as _lines
from strata.telefuser.harness import HarnessConfig, StageBenchHarness
from strata.telefuser.memory import (
    MemorySnapshot,
    capture_memory_snapshot,
    get_memory_analysis,
    get_memory_info,
    get_memory_snapshots,
    print_memory_analysis,
    record_memory_snapshot,
    reset_memory_registry,
    reset_peak_memory_stats,
    set_memory_baseline,
)

__all__ = [
    "GlobalTimingRegistry", "HarnessConfig", "MemorySnapshot", "ProfilingContext", "ProfilingContext4Debug",
    "StageBenchHarness", "capture_memory_snapshot", "compare_timing_reports", "dump_io_signatures",
    "dump_timing_report",
    "enable_profiler_for_names", "get_enabled_profiler_names", "get_io_signatures",
    "get_memory_analysis", "get_memory_info", "get_memory_snapshots", "get_profiler_output_dir",
    "get_timing_report", "mark_as_worker_process", "print_memory_analysis", "print_timing_summary",
    "record_memory_snapshot", "reset_memory_registry", "reset_peak_memory_stats",
    "reset_timing_registry", "set_memory_baseline", "set_pipeline_name", "set_profiler_output_dir",
    "set_timing_metadata",
]


class ProfilingContext:
    """A stage by TeleFuser's name: context manager, asynchronous too, and decorator."""

    def __init__(self, name: str, *, reset_peak_memory: bool = True,
                 capture_memory: bool = False) -> None:
        self.name = name
        self.capture_memory = capture_memory
        self._stage = strata.stage(name)
        self._began: list[float] = []

    def __enter__(self) -> ProfilingContext:
        if self.capture_memory:
            _memory.snapshot(f"before_{self.name}")
        self._stage.__enter__()
        self._began.append(time.perf_counter())
        return self

    def __exit__(self, *error: Any) -> None:
        seconds = time.perf_counter() - self._began.pop()
        self._stage.__exit__(*(error or (None, None, None)))
        if strata.enabled:
            _lines.call_ended(self.name, seconds)
        if self.capture_memory:
            _memory.snapshot(f"after_{self.name}")

    async def __aenter__(self) -> ProfilingContext:
        return self.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self.__exit__(*error)

    def __call__(self, fn: Callable) -> Callable:
        stage = self._stage(fn)
        return _lines.with_lines(self.name, stage) if strata.enabled else stage


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


def reset_timing_registry(request_id: str = "",
                          metadata: dict[str, Any] | None = None) -> GlobalTimingRegistry:
    """Starts a new report."""
    return GlobalTimingRegistry.reset(request_id, metadata)


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


def _summary() -> str:
    """The table, as text."""
    if not strata.enabled:
        return ""
    from strata._report.table import render
    return render(strata.report(), None)


def print_timing_summary() -> None:
    """The table, on standard output."""
    print(_summary(), end="")


class GlobalTimingRegistry:
    """The functions of this module under the names of TeleFuser's registry."""

    @classmethod
    def get_instance(cls) -> GlobalTimingRegistry:
        return _registry

    @classmethod
    def reset(cls, request_id: str = "", metadata: dict[str, Any] | None = None) -> GlobalTimingRegistry:
        strata.reset(request_id or None, metadata)
        return _registry

    def get_report(self) -> dict[str, Any]:
        return strata.report()

    def set_metadata(self, key: str, value: Any) -> None:
        strata.set_metadata(**{key: value})

    def dump(self, path: str) -> None:
        dump_timing_report(path)

    def dump_io_signatures(self, path: str) -> None:
        dump_io_signatures(path)

    def get_io_signatures(self) -> dict[str, Any]:
        return get_io_signatures()

    def summary(self) -> str:
        return _summary()

    def finalize(self) -> None:
        """Not needed: a report is of the moment it is asked for."""


_registry = GlobalTimingRegistry()


def _signatures() -> dict[str, Any]:
    if not strata.enabled:
        return {"stages": {}}
    from strata._report.timing import signatures
    return signatures()


def _dump(path: str | None, name: str, value: dict[str, Any]) -> str | None:
    if not strata.enabled:
        return None
    from strata._base import run_files
    if path is not None:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    else:
        path = run_files.claim(name, again=True)
    return path if path is not None and run_files.write_json(path, value) else None


def _load(report: Any) -> dict[str, Any]:
    if isinstance(report, dict):
        return report
    with open(report, encoding="utf-8") as f:
        return json.load(f)


def compare_timing_reports(baseline_path: Any, new_path: Any) -> str:
    """Two timing.json files, or their contents, side by side as Markdown. `strata compare` also
    says what is noise."""
    baseline, new = _load(baseline_path).get("stages", {}), _load(new_path).get("stages", {})
    lines = ["| stage | before | after | change |", "|---|---:|---:|---:|"]
    for name in dict.fromkeys([*baseline, *new]):
        before = baseline.get(name, {}).get("duration_ms")
        after = new.get(name, {}).get("duration_ms")
        change = f"{100 * (after - before) / before:+.1f} %" if before and after is not None else "-"
        lines.append(f"| {name} | {duration(before)} | {duration(after)} | {change} |")
    return "\n".join(lines) + "\n"


# Where files go.


def set_pipeline_name(name: str) -> None:
    """Names the run; before its first stage."""
    if os.environ.get("STRATA_PIPELINE") != name:
        _warn_if_late(f"set_pipeline_name({name!r})", f"STRATA_PIPELINE={name}")
    os.environ["STRATA_PIPELINE"] = name
    _restart()


def set_profiler_output_dir(path: str) -> None:
    """The folder runs are kept in; before the first stage."""
    if os.environ.get("STRATA_OUT") != os.path.abspath(path):
        _warn_if_late(f"set_profiler_output_dir({path!r})", f"STRATA_OUT={path}")
    os.environ["STRATA_OUT"] = os.path.abspath(path)
    _restart()


def _warn_if_late(call: str, instead: str) -> None:
    """The folder is made with the first record, and files of one run stay together."""
    if not strata.enabled:
        return
    from strata._base import settings
    from strata._base.extension import core
    folder = core.made_dir()
    if folder is not None:
        settings.say(f"{call} comes after the first stage: the files of this run stay in {folder}. Call "
                     f"it before, or set {instead}")


def _restart() -> None:
    if strata.enabled:
        from strata._base.extension import core
        core.set_place(os.environ.get("STRATA_OUT") or None, os.environ.get("STRATA_PIPELINE") or None)


def get_profiler_output_dir() -> Path:
    """The folder of this run; while recording is off, where it would be kept."""
    return Path(strata.run_dir() or os.environ.get("STRATA_OUT") or "strata_out")


_enabled_names: set[str] = set()


def enable_profiler_for_names(names: str | list[str]) -> None:
    """Takes a timeline of these stages (a list, or separated by commas, or *)."""
    words = names.split(",") if isinstance(names, str) else names
    chosen = [n.strip() for n in words if n.strip()]
    _enabled_names.clear()
    _enabled_names.update(chosen)
    if strata.enabled:
        from strata._record import hooks
        from strata._timeline import selected_stages
        selected_stages.select(chosen)
        hooks.begin()


def get_enabled_profiler_names() -> set[str]:
    """The stages of which a timeline is taken."""
    return set(_enabled_names)


def mark_as_worker_process(rank: int | None = None) -> None:
    """Not needed: every process writes its own files, and they are read together."""


def _obey_environment() -> None:
    """What TeleFuser's variables ask for."""
    env = os.environ.get
    theirs = env("TELEFUSER_PROFILER_OUTPUT_DIR") or env("PROFILER_OUTPUT_DIR")
    if theirs or (strata.enabled and not _chosen_out() and not env("STRATA_RUN")):
        set_profiler_output_dir(theirs or "profiler_output")
    if env("TELEFUSER_PIPELINE_NAME"):
        set_pipeline_name(os.environ["TELEFUSER_PIPELINE_NAME"])
    if env("ENABLE_PROFILER_NAMES"):
        enable_profiler_for_names(os.environ["ENABLE_PROFILER_NAMES"])
    for theirs, ours in (("RECORD_SHAPES", "STRATA_SHAPES"), ("WITH_STACK", "STRATA_STACK"),
                         ("PROFILE_MEMORY", "STRATA_PROFILE_MEMORY")):
        if env(f"TELEFUSER_TORCH_PROFILER_{theirs}"):
            os.environ.setdefault(ours, os.environ[f"TELEFUSER_TORCH_PROFILER_{theirs}"])
    if env("TELEFUSER_TIMING_REPORT") and strata.enabled:
        atexit.register(dump_timing_report)


def _chosen_out() -> bool:
    from strata._base import settings
    return settings.OUT_GIVEN


def _keep_traces() -> None:
    if strata.enabled:
        from strata._timeline import selected_stages
        selected_stages.listen(_lines.trace_written)


_obey_environment()
_keep_traces()
