"""Timelines of selected stages: STRATA_ONLY=vae_decode,denoise (or *) records one inside each call of
those stages and nowhere else, so that the traces stay small. STRATA_STEPS is the number of calls per
stage (1), STRATA_SKIP the number of calls to skip first (0).

Starting and stopping the profiler is not part of the stage's time. Its very first start takes a
second or so: it is made when a stage begins that is not selected, before that stage's time begins, so
that the stages around the selected ones do not pay for it."""
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
_listeners: list[Callable[[str, str, Any], None]] = []


def _not_followed(name: str) -> None:
    """Does nothing: no part of the package follows the calls."""


starting: Callable[[str], None] = _not_followed  # called before a call of that stage is traced
_prepared = False
spent_s = 0.0  # on starting, stopping and writing: in the time of the stages around, not of the stage


def wanted() -> bool:
    """Whether any stage is selected."""
    return bool(_names)


def most_calls() -> int:
    """How many calls of a stage are traced."""
    return _steps


def trace_every_call() -> None:
    """Unless STRATA_STEPS says how many."""
    global _steps
    _steps = settings.number("STRATA_STEPS", sys.maxsize, 1)


def _own_options() -> dict[str, bool]:
    return {"record_shapes": settings.flag("STRATA_TEST_PROFILER_SHAPES", True),
            "profile_memory": settings.flag("STRATA_TEST_PROFILER_MEMORY", False),
            "with_stack": settings.flag("STRATA_PROFILER_STACK", True)}


options: Callable[[], dict[str, bool]] = _own_options  # what torch.profiler is to record besides


def select(names: list[str]) -> None:
    """Selects stages by name from now on; hooks.begin() makes it so."""
    _names[:] = names


def enter(name: str) -> Any:
    """Starts a timeline if the stage is selected and none is being taken; what `exit` needs."""
    if not _names:
        return None
    if not ("*" in _names or name in _names):
        _prepare()
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
        starting(name)
        return name, start_profiler()
    except Exception as why:
        _running.release()
        settings.say(f"no timeline of {name}: {why}")
        return None
    finally:
        _spend(began)


def _prepare() -> None:
    """The first start of the profiler, once."""
    global _prepared
    if _prepared or "torch" not in sys.modules or not _running.acquire(blocking=False):
        return
    began = time.perf_counter()
    try:
        stop_profiler(start_profiler())
    except Exception:
        pass  # the first selected call says why
    finally:
        _prepared = True
        _spend(began)
        _running.release()


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
    given: dict[str, Any] = {"activities": list(profiler.supported_activities()), **options()}
    if "acc_events" in inspect.signature(profiler.profile).parameters:
        given["acc_events"] = True  # without it some versions print a warning
    running = profiler.profile(**given)
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


def listen(action: Callable[[str, str, Any], None]) -> None:
    """Calls `action` with the stage's name, the path and the profiler of every trace that is written."""
    _listeners.append(action)


def write(name: str, profiler: Any) -> None:
    """{stage}_trace.json.gz and {stage}_breakdown.json in the run's folder."""
    trace = run_files.claim(f"{name}_trace.json.gz")
    table = run_files.claim(f"{name}_breakdown.json")
    if trace is None or table is None:
        return
    profiler.export_chrome_trace(trace)
    settings.say(f"a timeline of {name} was recorded: strata report {trace}")
    for action in _listeners:
        action(name, trace, profiler)
    rows = breakdown.of(profiler)
    run_files.write_json(table, {"name": name, "rank": run_files.rank()[0],
                                  "trace": os.path.basename(trace), **rows})
