"""What is done around a stage besides reading the clock: timing the device, watching its memory,
taking a timeline. The extension calls `probe` now and then until there is something to do; a
program without a device pays nothing more.

All of this together may take a hundredth of the run: what would take more is done for the first
calls of a stage only."""
from __future__ import annotations

import time
from typing import Any

from strata import _device, _only, _settings
from strata._gpu_time import GpuTime
from strata._load import core
from strata._peaks import Peaks

FREE_CALLS = 16
SHARE = 0.01

gpu_time: GpuTime | None = None
peaks: Peaks | None = None

_accelerator: _device.Accelerator | None = None
_began = time.perf_counter()
_spent = 0.0
_calls: dict[int, int] = {}


def begin() -> None:
    """Called once, when recording starts."""
    if _only.wanted():
        core.set_hooks(_enter, _exit, None)


def probe() -> None:
    """Looks whether the program has begun to use a device."""
    global _accelerator, gpu_time, peaks
    found = _device.find()
    if found is None:
        return
    _accelerator = found
    if _settings.flag("STRATA_GPU", True):
        gpu_time = GpuTime(found)
    if _settings.flag("STRATA_MEMORY", True):
        peaks = Peaks(found)
    core.set_probe(None)
    core.set_hooks(_enter, _exit, found.synchronize)


def accelerator() -> _device.Accelerator | None:
    """The device in use, as far as is known by now."""
    return _accelerator or _device.find()


def _affordable(node: int, now: float) -> bool:
    calls = _calls.get(node, 0) + 1
    _calls[node] = calls
    return calls <= FREE_CALLS or _spent < SHARE * (now - _began)


def _enter(node: int, name: str) -> Any:
    global _spent
    timeline = _only.enter(name)
    began = time.perf_counter()
    event = opened = None
    if _accelerator is not None and _affordable(node, began):
        if peaks is not None:
            opened = peaks.begin()
        if gpu_time is not None:
            event = gpu_time.begin()  # last: nothing of ours may come between it and the stage
    _spent += time.perf_counter() - began
    return event, opened, timeline


def _exit(node: int, token: Any, error: type[BaseException] | None) -> None:
    global _spent
    event, opened, timeline = token
    began = time.perf_counter()
    if event is not None and gpu_time is not None:
        gpu_time.end(node, event)
    if opened is not None and peaks is not None:
        peaks.end(node, opened)
    _spent += time.perf_counter() - began
    if timeline is not None:
        _only.exit(timeline)


def forget_device() -> None:
    """In a forked child, where the parent's device cannot be used."""
    global _accelerator, gpu_time, peaks
    _accelerator = gpu_time = peaks = None
    core.set_probe(probe)
    core.set_hooks(None, None, None)
    begin()


def reset() -> None:
    """Forgets all numbers, for a new run in the same process."""
    _calls.clear()
    if gpu_time is not None:
        gpu_time.reset()
    if peaks is not None:
        peaks.reset()
