"""What TeleFuser's profiler says and writes, as its documentation has it: a line per call, and the traces
of selected stages as {stage}_rank{rank}_run{number}.json in its output folder."""
from __future__ import annotations

import functools
import gzip
import inspect
import logging
import os
import shutil
import time
from collections.abc import Callable
from typing import Any

from strata._base import run_files, settings
from strata._base.device import find

_log = logging.getLogger("telefuser")
_runs: dict[str, int] = {}


def tell(text: str) -> None:
    """To the program's log, or, where it has none, to stderr."""
    if _log.hasHandlers():
        _log.info(text)
    elif settings.flag("STRATA_TABLE", True):
        settings.tell(text + "\n")


def rank() -> int:
    return max(run_files.rank()[0], 0)


def call_ended(name: str, seconds: float) -> None:
    """The lines of one call of a ProfilingContext."""
    try:
        tell(f"[Profile] {name} cost {seconds:.6f} seconds")
        accelerator = find()
        if accelerator is not None and not accelerator.capturing():
            peak = max((accelerator.memory_stats(i).get("peak_reserved", 0)
                        for i in accelerator.devices()), default=0)
            tell(f"Rank {rank()} - Function '{name}' Peak Memory: {peak / 1024 ** 3:.2f} GB")
    except Exception as why:
        settings.say(f"telefuser: {why!r}")


def with_lines(name: str, fn: Callable) -> Callable:
    """The function with its lines after every call; generators, which end when they like, without."""
    if inspect.iscoroutinefunction(fn):
        @functools.wraps(fn)
        async def wait(*args: Any, **kwargs: Any) -> Any:
            began = time.perf_counter()
            try:
                return await fn(*args, **kwargs)
            finally:
                call_ended(name, time.perf_counter() - began)
        return wait
    if not inspect.isfunction(fn) or inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        return fn

    from strata._record.stage import is_compiling

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return fn(*args, **kwargs)
        began = time.perf_counter()
        try:
            return fn(*args, **kwargs)
        finally:
            call_ended(name, time.perf_counter() - began)
    return call


def trace_written(name: str, trace: str) -> None:
    """A stage's trace under the name that TeleFuser's documentation gives it."""
    folder = os.environ.get("STRATA_OUT") or "."
    _runs[name] = _runs.get(name, 0) + 1
    path = os.path.join(folder, f"{run_files.clean(name)}_rank{rank()}_run{_runs[name]}.json")
    with gzip.open(trace, "rb") as packed, open(path, "wb") as plain:
        shutil.copyfileobj(packed, plain)
    tell(f"Rank {rank()} - PyTorch profiler trace saved to: {path}")
