"""Timelines of selected stages: STRATA_ONLY=vae_decode,denoise (or *) records one inside each call of
those stages and nowhere else, so that the traces stay small. STRATA_STEPS is the number of calls per
stage (1), STRATA_SKIP the number of calls to skip first (0).

Starting and stopping the profiler is not part of the stage's time."""
from __future__ import annotations

import inspect
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from strata._base import run_files, settings
from strata._timeline import breakdown, labels

_names = settings.words("STRATA_ONLY")
_steps = settings.number("STRATA_STEPS", 1, 1)
_skip = settings.number("STRATA_SKIP", 0)
_seen: dict[str, int] = {}
_running = threading.Lock()
_listeners: list[Callable[[str, str], None]] = []
spent_s = 0.0  # on starting, stopping and writing: in the time of the stages around, not of the stage


def wanted() -> bool:
    """Whether any stage is selected."""
    return bool(_names)


def select(names: list[str]) -> None:
    """Selects stages by name from now on; hooks.begin() makes it so."""
    _names[:] = names


def enter(name: str) -> Any:
    """Starts a timeline if the stage is selected and none is being taken; what `exit` needs."""
    if not _names or not ("*" in _names or name in _names):
        return None
    call = _seen.get(name, 0)
    if call >= _skip + _steps or "torch" not in sys.modules:
        return None
    if not _running.acquire(blocking=False):
        return None  # a stage inside a selected stage, or on another thread: one at a time
    _seen[name] = call + 1
    if call < _skip:
        _running.release()
        return None
    began = time.perf_counter()
    try:
        return name, start_profiler()
    except Exception as why:
        _running.release()
        settings.say(f"no timeline of {name}: {why}")
        return None
    finally:
        _spend(began)


def _spend(began: float) -> None:
    global spent_s
    spent_s += time.perf_counter() - began


def exit(timeline: tuple[str, Any]) -> None:
    """Stops it and writes its files."""
    name, profiler = timeline
    began = time.perf_counter()
    try:
        stop_profiler(profiler)
        write(name, profiler)
    except Exception as why:
        settings.say(f"no timeline of {name}: {why}")
    finally:
        _spend(began)
        _running.release()


def _others_profile() -> bool:
    """Whether the program runs a profiler of its own: there can be only one."""
    ask = getattr(sys.modules.get("torch.autograd"), "_profiler_enabled", None)
    return bool(ask()) if ask is not None else False


def start_profiler() -> Any:
    """torch.profiler over everything it can see here, already running."""
    from torch import profiler
    if _others_profile():
        raise RuntimeError("the program runs its own profiler")
    options = {
        "activities": list(profiler.supported_activities()),
        "record_shapes": settings.flag("STRATA_SHAPES", True),
        "profile_memory": settings.flag("STRATA_PROFILE_MEMORY", False),
        "with_stack": settings.flag("STRATA_STACK", True),
    }
    if "acc_events" in inspect.signature(profiler.profile).parameters:
        options["acc_events"] = True  # without it some versions print a warning
    running = profiler.profile(**options)
    labels.begin()
    try:
        running.start()
    except Exception:
        labels.end()
        raise
    return running


def stop_profiler(running: Any) -> None:
    """What start_profiler has started."""
    labels.end()
    try:
        running.stop()
    except UnicodeDecodeError:
        pass  # a name that torch kept no copy of; its records are there, and are written as they are


def listen(action: Callable[[str, str], None]) -> None:
    """Calls `action` with the stage's name and the path of every trace that is written."""
    _listeners.append(action)


def write(name: str, profiler: Any) -> None:
    """{stage}_trace.json.gz and {stage}_breakdown.json in the run's folder."""
    trace = run_files.claim(f"{name}_trace.json.gz")
    table = run_files.claim(f"{name}_breakdown.json")
    if trace is None or table is None:
        return
    profiler.export_chrome_trace(trace)
    for action in _listeners:
        action(name, trace)
    rows = breakdown.of(profiler)
    run_files.write_json(table, {"name": name, "rank": run_files.rank()[0],
                                  "trace": os.path.basename(trace), **rows})
