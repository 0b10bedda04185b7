"""TeleFuser's profiler by its own names: ProfilingContext, the timing registry, signatures, where files go.

Its environment variables are read as it reads them: ENABLE_PROFILER_NAMES, TELEFUSER_PROFILE_DEBUG,
TELEFUSER_PIPELINE_NAME, TELEFUSER_PROFILER_OUTPUT_DIR (PROFILER_OUTPUT_DIR on its page),
TELEFUSER_TIMING_REPORT and TELEFUSER_TORCH_PROFILER_*."""
from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import strata
from strata import memory as _memory
from strata._base.units import duration
from strata.telefuser import lines as _lines, places as _places
from strata.telefuser.signatures import StageIOSignature, theirs as _theirs


class ProfilingContext:
    """A stage by TeleFuser's name: context manager, asynchronous too, and decorator. It waits for the
    device at both ends, so that the time is that of the work."""

    def __init__(self, name: str, *, reset_peak_memory: bool = True,
                 capture_memory: bool = False) -> None:
        self.name = name
        self.reset_peak_memory = reset_peak_memory
        self.capture_memory = capture_memory
        self._calls: list[_lines.Call | None] = []
        _obey_names()
        self._stage = strata.stage(name, sync=True)

    def __enter__(self) -> ProfilingContext:
        if not strata.enabled or _lines.alone.get():
            self._calls.append(None)
            return self
        if self.capture_memory:
            _memory.snapshot(f"before_{self.name}")
        call = _lines.Call(self.name, self.reset_peak_memory)
        self._calls.append(call)
        call.enter()
        self._stage.__enter__()
        call.start()
        return self

    def __exit__(self, *error: Any) -> None:
        call = self._calls.pop()
        if call is None:
            return
        call.stop()
        self._stage.__exit__(*(error or (None, None, None)))
        call.leave()
        if self.capture_memory:
            _memory.snapshot(f"after_{self.name}")

    async def __aenter__(self) -> ProfilingContext:
        return self.__enter__()

    async def __aexit__(self, *error: Any) -> None:
        self.__exit__(*error)

    def __call__(self, fn: Callable) -> Callable:
        if not strata.enabled:
            return self._stage(fn)
        return _lines.wrap(self.name, self.reset_peak_memory, self._stage, fn)


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
    return _by_name(strata.report())


def set_timing_metadata(key: str | dict[str, Any], value: Any = None) -> None:
    """Adds facts about the run to the report."""
    strata.set_metadata(**(key if isinstance(key, dict) else {key: value}))


def dump_timing_report(path: str | None = None) -> str | None:
    """Writes timing.json, to `path` or into the output folder; returns where."""
    if not strata.enabled:
        return None
    path = path or os.environ.get("TELEFUSER_TIMING_REPORT") or _places.report_path("timing.json")
    return _dump(path, get_timing_report(), "Timing report")


def get_io_signatures() -> dict[str, StageIOSignature]:
    """The signatures seen so far, by stage."""
    return _signatures()["stages"]


def dump_io_signatures(path: str | None = None) -> str | None:
    """Writes timing_io_signature.json, to `path` or into the output folder; returns where."""
    if not strata.enabled:
        return None
    return _dump(path or _places.report_path("timing_io_signature.json"), _signatures(), "I/O signature")


def _summary() -> str:
    """The table, as text."""
    return str(strata.report()) if strata.enabled else ""


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
        return get_timing_report()

    def set_metadata(self, key: str, value: Any) -> None:
        strata.set_metadata(**{key: value})

    def dump(self, path: str) -> None:
        dump_timing_report(path)

    def dump_io_signatures(self, path: str) -> None:
        dump_io_signatures(path)

    def get_io_signatures(self) -> dict[str, StageIOSignature]:
        return get_io_signatures()

    def summary(self) -> str:
        return _summary()

    def finalize(self) -> None:
        """Not needed: a report is of the moment it is requested."""


_registry = GlobalTimingRegistry()


def _by_name(report: dict[str, Any]) -> dict[str, Any]:
    """The stages by name, as TeleFuser has them; those of one name in several places by their paths."""
    names = [path.rpartition("/")[2] for path in report["stages"]]
    stages = {name if names.count(name) == 1 else path: stage
              for name, (path, stage) in zip(names, report["stages"].items())}
    return {**report, "stages": stages}


def _signatures() -> dict[str, Any]:
    if not strata.enabled:
        return {"stages": {}}
    from strata._report.timing import signatures
    found = _by_name(signatures())
    found["stages"] = {name: _theirs(name, seen) for name, seen in found["stages"].items()
                       if seen["signatures"]}
    return found


def _dump(path: str, value: dict[str, Any], what: str) -> str | None:
    from strata._base import run_files
    if not run_files.write_json(_places.make_room(path), value):
        return None
    _lines.tell(f"[Profiler] {what} saved to: {path}")
    return path


def _load(report: Any) -> dict[str, Any]:
    if isinstance(report, dict):
        return report
    with open(report, encoding="utf-8") as f:
        return json.load(f)


def compare_timing_reports(baseline_path: Any, new_path: Any) -> str:
    """Two timing.json files, or their contents, side by side as Markdown. `strata diff` also
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
    """Names the folder, and strata's own run if it has not begun."""
    os.environ["TELEFUSER_PIPELINE_NAME"] = name
    _name_run()


def set_profiler_output_dir(path: str) -> None:
    """The folder itself that files go to from now on."""
    os.environ["TELEFUSER_PROFILER_OUTPUT_DIR"] = os.fspath(path)


def get_profiler_output_dir() -> Path:
    """The folder that files go to; it is made with the first of them."""
    return _places.folder()


_enabled_names: set[str] = set()


def enable_profiler_for_names(names: str | list[str]) -> None:
    """Takes a timeline of these stages (a list, or separated by commas, or *)."""
    os.environ["ENABLE_PROFILER_NAMES"] = names if isinstance(names, str) else ",".join(names)
    _obey_names()


def _obey_names() -> None:
    """The stages that the variable names now: programs set it late, too."""
    chosen = {n.strip() for n in os.environ.get("ENABLE_PROFILER_NAMES", "").split(",") if n.strip()}
    if chosen == _enabled_names:
        return
    _enabled_names.clear()
    _enabled_names.update(chosen)
    if strata.enabled:
        from strata._record import hooks
        from strata._timeline import selected_stages
        selected_stages.select(sorted(chosen))
        hooks.begin()


def get_enabled_profiler_names() -> set[str]:
    """The stages of which a timeline is taken."""
    return set(_enabled_names)


_is_worker = False


def mark_as_worker_process() -> None:
    """This process leaves the reports of TeleFuser's page to the one it works for; strata's own files are
    written by every process, and read together."""
    global _is_worker
    _is_worker = True


def _name_run() -> None:
    name = os.environ.get("TELEFUSER_PIPELINE_NAME")
    if not name or not strata.enabled:
        return
    from strata._base.extension import core
    if core.made_dir() is None:
        os.environ["STRATA_PIPELINE"] = name
        core.set_place(os.environ.get("STRATA_OUT") or None, name)


_pid = os.getpid()


def _at_exit() -> None:
    """The reports of a process that has recorded something."""
    if _is_worker or os.getpid() != _pid:
        return
    try:
        if get_timing_report()["stages"]:
            path = dump_timing_report()
            if path is not None and get_io_signatures():
                dump_io_signatures(os.path.splitext(path)[0] + "_io_signature.json")
    except Exception as why:
        from strata._base import settings
        settings.say(f"telefuser: no report: {why!r}")


def _begin() -> None:
    _name_run()
    _obey_names()
    if strata.enabled:
        _lines.begin()
        atexit.register(_at_exit)


_begin()
