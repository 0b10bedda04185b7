"""What TeleFuser's profiler logs and writes while a program runs, as its page has it: two lines per call,
and the traces of selected stages.

The cost of a call is what the stage itself took, with the device: signatures, log lines and memory
readings of strata, its own and those of the calls inside it, are not part of it."""
from __future__ import annotations

import contextvars
import functools
import gzip
import inspect
import json
import logging
import resource
import shutil
import time
from collections.abc import Callable
from typing import Any

from strata._base import run_files, settings
from strata._base.device import find
from strata._timeline import selected_stages
from strata._timeline.breakdown import is_python, rows_of
from strata.telefuser import breakdown, places

GB = 1024 ** 3

_log = logging.getLogger("telefuser")
_runs: dict[str, int] = {}
_running: contextvars.ContextVar[Call | None] = contextvars.ContextVar("strata_telefuser", default=None)
alone: contextvars.ContextVar[bool] = contextvars.ContextVar("strata_telefuser_alone", default=False)


def tell(text: str) -> None:
    """To the program's log, or, where it has none, to stderr."""
    if _log.hasHandlers():
        _log.info(text)
    elif settings.flag("STRATA_TABLE", True):
        settings.tell(text + "\n")


class Call:
    """One call of a ProfilingContext. enter() and leave() surround strata's stage, start() and stop() what
    is inside it."""

    __slots__ = ("name", "reset_peak", "entered", "began", "ended", "own_s", "outer", "opened", "peak")

    def __init__(self, name: str, reset_peak: bool) -> None:
        self.name = name
        self.reset_peak = reset_peak
        self.began = self.ended = self.own_s = 0.0
        self.opened: Any = None
        self.peak: int | None = None

    def enter(self) -> None:
        self.entered = time.perf_counter()
        self.outer = _running.get()
        _running.set(self)

    def start(self) -> None:
        from strata._record import hooks
        try:
            if hooks.peaks is not None:
                self.opened = hooks.peaks.begin()
        except Exception as why:
            settings.say(f"telefuser: {why!r}")
        self.began = time.perf_counter()

    def stop(self) -> None:
        try:
            accelerator = find()
            if accelerator is not None:
                accelerator.synchronize()
            self.ended = time.perf_counter()
            self.peak = self._peak(accelerator)
        except Exception as why:
            settings.say(f"telefuser: {why!r}")

    def _peak(self, accelerator: Any) -> int | None:
        """Bytes: of the device in most use, in this call or since the program's last reset; without a
        device, of the process."""
        from strata._record import hooks
        if accelerator is None:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if accelerator.capturing():
            return None
        peaks = hooks.peaks
        if peaks is None:  # switched off
            stats = (accelerator.memory_stats(i) for i in accelerator.devices())
            return max((s.get("peak_reserved", 0) for s in stats), default=0)
        here = peaks.close(self.opened) if self.opened is not None else {}
        if not self.reset_peak:
            return max(peaks.accumulated().values(), default=0)
        return max((reserved for _, reserved in here.values()), default=0)

    def leave(self) -> None:
        _running.set(self.outer)
        try:
            if self.ended:
                tell(f"[Profile] {self.name} cost {self.seconds():.6f} seconds")
            if self.peak is not None:
                tell(f"Rank {places.rank()} - Function '{self.name}' Peak Memory: {self.peak / GB:.2f} GB")
        except Exception as why:
            settings.say(f"telefuser: {why!r}")
        if self.outer is not None:
            self.outer.own_s += time.perf_counter() - self.entered - (self.ended - self.began) + self.own_s

    def seconds(self) -> float:
        return max(self.ended - self.began - self.own_s, 0.0)


def wrap(name: str, reset_peak: bool, decorate: Callable, fn: Callable) -> Callable:
    """`fn` as a stage, which `decorate` makes, with its lines after every call. Generators, which end when
    they like, have none."""
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(wrap(name, reset_peak, decorate, fn.__func__))
    if inspect.iscoroutinefunction(fn):
        return _wrap_coroutine(name, reset_peak, decorate, fn)
    if not inspect.isfunction(fn) or inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        return decorate(fn)

    from strata._record.stage import is_compiling

    @functools.wraps(fn)
    def inside(*args: Any, **kwargs: Any) -> Any:
        call = _running.get()
        if call is None:
            return fn(*args, **kwargs)
        call.start()
        try:
            return fn(*args, **kwargs)
        finally:
            call.stop()

    stage = decorate(inside)

    @functools.wraps(fn)
    def around(*args: Any, **kwargs: Any) -> Any:
        if alone.get() or is_compiling():
            return fn(*args, **kwargs)
        call = Call(name, reset_peak)
        call.enter()
        try:
            return stage(*args, **kwargs)
        finally:
            call.leave()
    return around


def _wrap_coroutine(name: str, reset_peak: bool, decorate: Callable, fn: Callable) -> Callable:
    @functools.wraps(fn)
    async def inside(*args: Any, **kwargs: Any) -> Any:
        call = _running.get()
        if call is None:
            return await fn(*args, **kwargs)
        call.start()
        try:
            return await fn(*args, **kwargs)
        finally:
            call.stop()

    stage = decorate(inside)

    @functools.wraps(fn)
    async def around(*args: Any, **kwargs: Any) -> Any:
        if alone.get():
            return await fn(*args, **kwargs)
        call = Call(name, reset_peak)
        call.enter()
        try:
            return await stage(*args, **kwargs)
        finally:
            call.leave()
    return around


def profiler_options() -> dict[str, bool]:
    """What TeleFuser's variables ask of torch.profiler; all of it by default."""
    names = {"record_shapes": "STRATA_TEST_PROFILER_SHAPES", "profile_memory": "STRATA_TEST_PROFILER_MEMORY",
             "with_stack": "STRATA_PROFILER_STACK"}
    return {option: settings.flag(f"TELEFUSER_TORCH_PROFILER_{option.upper()}", settings.flag(name, True))
            for option, name in names.items()}


MOST_OPERATORS = 10  # of a summary


def _summarize(name: str, profiler: Any) -> None:
    """The operators that take longest, as the page shows them."""
    def device_us(row: Any) -> float:
        return float(getattr(row, "device_time_total", getattr(row, "cuda_time_total", 0)))

    rank = f"Rank {places.rank()} - "
    rows = [row for row in rows_of(profiler) if not is_python(row.key)]
    tell(f"{rank}Profiler summary for '{name}': Total operations: {len(rows)}")
    rows = sorted(rows, key=lambda row: row.cpu_time_total + device_us(row), reverse=True)
    for number, row in enumerate(rows[:MOST_OPERATORS], 1):
        cuda = f"{device_us(row) / 1e3:.2f} ms" if device_us(row) > 0 else "N/A"
        tell(f"{rank}  {number}. {row.key}: CPU={row.cpu_time_total / 1e3:.2f} ms, CUDA={cuda}")


def trace_starts(name: str) -> None:
    tell(f"Rank {places.rank()} - Starting PyTorch profiler for '{name}'")


def trace_written(name: str, trace: str, profiler: Any) -> None:
    """A stage's trace under the names that TeleFuser gives it: NAME_rankR_runN.json on its page,
    NAME_rankR.trace.json.gz and its breakdown in its current version."""
    _runs[name] = _runs.get(name, 0) + 1
    stem = str(places.folder() / f"{run_files.clean(name)}_rank{places.rank()}")
    plain = places.make_room(f"{stem}_run{_runs[name]}.json")
    with gzip.open(trace, "rb") as packed, open(plain, "wb") as out:
        shutil.copyfileobj(packed, out)
    shutil.copyfile(trace, places.make_room(f"{stem}.trace.json.gz"))
    with open(places.make_room(f"{stem}.breakdown.json"), "w", encoding="utf-8") as table:
        json.dump({"rank": places.rank(), **breakdown.of(name, profiler)}, table, indent=1)
    tell(f"Rank {places.rank()} - PyTorch profiler trace saved to: {plain}")
    _summarize(name, profiler)
    if _runs[name] == selected_stages.most_calls():
        tell(f"Rank {places.rank()} - no further call of '{name}' is traced; STRATA_STEPS=N traces N of them")


def begin() -> None:
    """Called once, where strata records."""
    selected_stages.listen(trace_written)
    selected_stages.options = profiler_options
    selected_stages.starting = trace_starts
    selected_stages.trace_every_call()

