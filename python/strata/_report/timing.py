"""What came out of the run: timing.json, timing_io_signature.json, environment.json and the table.

timing.json lists stages by path (denoise/transformer_forward): the same stage in two places is two
entries, and no time is counted twice: the total is that of the outermost stages."""
from __future__ import annotations

import atexit
import datetime
import os
import socket
import sys
import time
from typing import Any

from strata import memory
from strata._base import run_files, settings
from strata._base.extension import core
from strata._base.version import __version__
from strata._record import hooks, io_signature
from strata._report import checkpoint, environment
from strata._report.report import Report, of_trace
from strata._report.table import render
from strata._timeline import selected_stages

SCHEMA = 1
MB = 1024 * 1024

_began = time.perf_counter()
_began_at = datetime.datetime.now(datetime.timezone.utc)
_pid = os.getpid()
_metadata: dict[str, Any] = {}
_request_id = ""
_in_child = False


def begin() -> None:
    """Called once, when recording starts."""
    _new_request()
    checkpoint.begin(lambda: _write_files(over=False, wait=False))
    atexit.register(_at_exit)
    os.register_at_fork(after_in_child=_after_fork)
    if "multiprocessing.spawn" in sys.modules:  # this may be a process it has made
        _write_when_process_ends()
        _write_after_all()


def _new_request(request_id: str | None = None) -> None:
    global _began, _began_at, _request_id
    _began = time.perf_counter()
    _began_at = datetime.datetime.now(datetime.timezone.utc)
    stamp = datetime.datetime.now().strftime("%Y%m%d_%H%M%S_%f")
    _request_id = request_id or f"req_{stamp}"


def reset(request_id: str | None = None, metadata: dict[str, Any] | None = None) -> None:
    """Forgets all numbers: what is reported next is what happens from here on."""
    core.reset()
    hooks.reset()
    io_signature.reset()
    memory.reset()
    _metadata.clear()
    _metadata.update(metadata or {})
    _new_request(request_id)


def set_metadata(**values: Any) -> None:
    """Facts about the run for timing.json: resolution, steps, checkpoint."""
    _metadata.update(values)


def run_dir() -> str | None:
    """The folder of this run, or None: it is made when there is something to put in."""
    return core.made_dir()


def report(trace: Any = None, *, height: int = 720) -> Report:
    """Without a trace the content of timing.json as of now; waits for the device to finish what it
    was given. For a trace (a path, or a strata.profile), its report. Both are dicts that print() shows
    as text and notebooks as a page, `height` pixels high."""
    return Report(content(), height=height) if trace is None else of_trace(trace, height)


def content(wait: bool = True) -> dict[str, Any]:
    """The content of timing.json as of now; what the device has not finished is left out unless this waits
    for it."""
    if hooks.gpu_time is not None:
        hooks.gpu_time.collect(wait)
    wall_ms = (time.perf_counter() - _began) * 1e3
    nodes = _depth_first(core.snapshot())
    paths = _paths(nodes)
    stages = {paths[n["node"]]: _stage(n, paths[n["node"]], wall_ms) for n in nodes
              if n["calls"] or n["errors"] or n["recursions"]}
    rank, world = run_files.rank()
    out: dict[str, Any] = {
        "schema": SCHEMA,
        "strata": __version__,
        "request_id": _request_id,
        "pipeline": os.environ.get("STRATA_PIPELINE") or run_files.pipeline_name(),
        "timestamp": _began_at.isoformat(),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "rank": rank,
        "world_size": world,
        "wall_clock_ms": wall_ms,
        "total_stages_ms": sum(n["total_ns"] for n in nodes if n["parent"] == 0) / 1e6,
        "num_stages": len(stages),
        "lost_records": core.lost(),
        "stages": stages,
        "metadata": dict(_metadata),
    }
    if selected_stages.spent_s:
        out["profiler_ms"] = selected_stages.spent_s * 1e3
    checkpoints = memory.analysis()
    if checkpoints:
        out["memory"] = checkpoints
    return out


def _depth_first(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every stage followed by those inside it, otherwise in the order they first ran."""
    inside: dict[int, list[dict[str, Any]]] = {}
    for n in nodes:
        inside.setdefault(n["parent"], []).append(n)
    ordered: list[dict[str, Any]] = []
    waiting = inside.get(0, [])[::-1]
    while waiting:
        n = waiting.pop()
        ordered.append(n)
        waiting += inside.get(n["node"], [])[::-1]
    return ordered


def _paths(nodes: list[dict[str, Any]]) -> dict[int, str]:
    paths = {0: ""}
    taken: set[str] = set()
    for n in nodes:
        above = paths[n["parent"]]
        path = f"{above}/{n['name']}" if above else n["name"]
        while path in taken:  # a name with a slash in it
            path += "'"
        taken.add(path)
        paths[n["node"]] = path
    return paths


def _stage(n: dict[str, Any], path: str, wall_ms: float) -> dict[str, Any]:
    def ms(key: str) -> float:
        return n[f"{key}_ns"] / 1e6

    calls = n["calls"]
    entry: dict[str, Any] = {
        "name": n["name"],
        "path": path,
        "count": calls,
        "duration_ms": ms("total"),
        "percentage": 100 * ms("total") / wall_ms if wall_ms else 0.0,
        "self_ms": max(ms("total") - ms("inner"), 0.0),
        "mean_ms": ms("total") / calls if calls else None,
        "first_ms": ms("first"),
        "median_ms": ms("median"),
        "p95_ms": ms("p95"),
        "min_ms": ms("min"),
        "max_ms": ms("max"),
        "std_ms": ms("std") if calls > 1 else None,
    }
    if n["errors"]:
        entry["errors"] = n["errors"]
        entry["error_ms"] = ms("error")
    if n["recursions"]:
        entry["recursions"] = n["recursions"]
    if n["active_ns"]:
        entry["active_ms"] = ms("active")
        entry["awaited_ms"] = ms("awaited")
    gpu = hooks.gpu_time.stages.get(n["node"]) if hooks.gpu_time is not None else None
    if gpu is not None and gpu.count:
        # those that were examined stand for the others
        entry.update(gpu_ms=gpu.total_ms * max(calls / gpu.count, 1.0), gpu_count=gpu.count,
                     gpu_median_ms=gpu.median_ms())
    entry["memory"] = _memory(n)
    return entry


def _memory(n: dict[str, Any]) -> dict[str, Any]:
    """Host and, where one is used, devices; the largest of them also in MB, under the names that
    TeleFuser's reports use."""
    out: dict[str, Any] = {"rss_bytes": n["rss_bytes"], "rss_peak_bytes": n["rss_peak_bytes"]}
    peaks = hooks.peaks
    found = peaks.stages.get(n["node"]) if peaks is not None else None
    if peaks is None or not found:
        return out
    kind = peaks.accelerator.kind
    out["devices"] = {f"{kind}:{i}": m.as_dict() for i, m in sorted(found.items())}
    largest = max(found.values(), key=lambda m: m.peak_reserved)
    out.update(allocated_mb=largest.allocated / MB, reserved_mb=largest.reserved / MB,
               peak_allocated_mb=largest.peak_allocated / MB,
               peak_reserved_mb=largest.peak_reserved / MB)
    return out


def signatures(wait: bool = True) -> dict[str, Any]:
    """The content of timing_io_signature.json as of now; without values that a device still computes
    unless this waits for them."""
    paths = _paths(core.snapshot())
    stages = {paths[node]: found for node, found in io_signature.collected(wait).items()
              if node in paths}
    return {"schema": SCHEMA, "request_id": _request_id, "timestamp": _began_at.isoformat(),
            "rank": run_files.rank()[0], "stages": stages}


def write() -> str | None:
    """Writes the run's files as they are now. While the program runs that happens by itself, too, and
    once more when it ends."""
    return _write_files(over=False)


def _write_files(over: bool, wait: bool = True) -> str | None:
    """`over`: the program ends, and these are its last; else the recordings may know of more."""
    found = content(wait)
    if not found["stages"]:
        return None
    folder = run_files.folder()
    if folder is None:
        return None
    core.set_rank(*run_files.rank())
    _write("timing.json", found if over else {**found, "running": True})
    described = signatures(wait)
    if described["stages"]:
        _write("timing_io_signature.json", described)
    if wait or not run_files.is_claimed("environment.json"):
        _write("environment.json", environment.describe())
    return folder


def _write(name: str, value: dict[str, Any]) -> None:
    path = run_files.claim(name, again=True)
    if path is not None:
        run_files.write_json(path, value)


def _speaks() -> bool:
    """One process of a run prints the table: `strata run` if it was started by that, else the
    first rank, and none that was forked off."""
    return not _is_child() and run_files.rank()[0] <= 0 and settings.flag("STRATA_TABLE", True)


def _at_exit() -> None:
    if os.getpid() != _pid:  # a child that leaves by an exit it inherited
        return
    try:
        folder = _write_files(over=True)
        found = content() if _speaks() else None
        if found and found["stages"]:
            settings.tell(render(found, folder))
        run_files.tidy()
    except Exception as why:
        settings.say(f"no report: {why!r}")


def _is_child() -> bool:
    """Whether multiprocessing has made this process."""
    processes = sys.modules.get("multiprocessing.process")
    return _in_child or (processes is not None and processes.parent_process() is not None)


def _write_when_process_ends() -> None:
    """Processes of multiprocessing leave without running exit handlers, but run these."""
    from multiprocessing import util
    util.Finalize(None, _write_quietly, exitpriority=-100)


def _write_quietly() -> None:
    try:
        if _is_child():
            _write_files(over=True)
    except Exception as why:
        settings.say(f"no report: {why!r}")


class _Forked:
    """A key that lives as long as the module."""


_forked = _Forked()


def _write_after_all() -> None:
    """Before it runs a new process, multiprocessing empties the list of what is to be run at its
    end, and then calls this."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_forked, lambda _: _write_when_process_ends())


def _after_fork() -> None:
    """A child starts from nothing: its stages are its own."""
    global _pid, _in_child
    _pid = os.getpid()
    _in_child = True
    try:
        core.reset()
        hooks.forget_device()
        run_files.forget()
        io_signature.reset()
        memory.reset()
        _new_request()
        checkpoint.forked()
        _write_after_all()
    except Exception as why:
        settings.say(f"off after fork: {why!r}")
