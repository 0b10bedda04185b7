"""What is done around a stage besides reading the clock: timing the device, watching its memory,
taking a timeline. The extension calls `probe` occasionally until there is something to do; a
program without a device pays nothing more.

Looking at a stage may take 1 % of the time since it first ran, and all of them together a
thirtieth of the run: what would take more is done for the first calls of a stage only."""
from __future__ import annotations

import time
from typing import Any

from strata._base import device, settings
from strata._base.extension import core
from strata._record.gpu_time import GpuTime
from strata._record.memory_peaks import Peaks
from strata._timeline import labels, selected_stages, torch_fallback

FREE_CALLS = 16
SHARE = 0.01  # of one stage
SHARE_OF_ALL = 0.03
UNHEARD = 15  # calls of a stage that has spent its share, before it is asked again

gpu_time: GpuTime | None = None
peaks: Peaks | None = None


class _Budget:
    """What looking at one stage has cost."""

    __slots__ = ("calls", "spent", "since")

    def __init__(self, now: float) -> None:
        self.calls = 0
        self.spent = 0.0
        self.since = now

    def allows(self, now: float) -> bool:
        self.calls += 1
        return self.calls <= FREE_CALLS or (self.spent < SHARE * (now - self.since)
                                            and _spent < SHARE_OF_ALL * (now - _began))

    def charge(self, seconds: float) -> None:
        global _spent
        self.spent += seconds
        _spent += seconds


class _Look:
    """One call that is examined."""

    __slots__ = ("budget", "begun", "ended", "label", "opened", "timeline")

    def __init__(self, timeline: Any) -> None:
        self.timeline = timeline
        self.label: Any = None
        self.budget: _Budget | None = None
        self.begun: Any = None
        self.ended: Any = None
        self.opened: Any = None


_accelerator: device.Accelerator | None = None
_began = time.perf_counter()
_spent = 0.0
_budgets: dict[int, _Budget] = {}


def begin() -> None:
    """Called once, when recording starts, and when stages are selected later."""
    labels.listen(_hear)
    if selected_stages.wanted():
        _hear()


def _hear() -> None:
    """Every stage from now on."""
    core.set_hooks(_enter, _exit, _wait if _accelerator is not None else None)


def probe() -> None:
    """Looks whether the program has begun to use a device."""
    global _accelerator, gpu_time, peaks
    found = device.find()
    if found is None:
        return
    _accelerator = found
    ask = not torch_fallback.knows(found.kind)  # what the timeline knows need not be requested
    if settings.flag("STRATA_TEST_GPU", ask):
        gpu_time = GpuTime(found)
    if settings.flag("STRATA_TEST_MEMORY", ask):
        peaks = Peaks(found)
    core.set_probe(None)
    core.set_hooks(_enter, _exit, _wait)


def accelerator() -> device.Accelerator | None:
    """The device in use, as far as is known by now."""
    return _accelerator or device.find()


def _enter(node: int, name: str) -> Any:
    look = _Look(selected_stages.enter(name))
    began = time.perf_counter()
    if labels.wanted():
        look.label = labels.enter(name)
    budget = _budgets.get(node)
    if budget is None:
        budget = _budgets[node] = _Budget(began)
    if _accelerator is None or not budget.allows(began):
        if look.timeline is not None or look.label is not None:
            return look
        return None if selected_stages.wanted() else UNHEARD
    look.budget = budget
    if peaks is not None:
        look.opened = peaks.begin()
    if gpu_time is not None:
        look.begun = gpu_time.mark()  # last: nothing of ours may come between it and the stage
    budget.charge(time.perf_counter() - began)
    return look


def _wait(look: _Look | None) -> None:
    """At the border of a stage with sync=True. The end is marked before: behind the wait there is
    nothing left on the device to mark."""
    if look is not None and look.begun is not None and gpu_time is not None:
        look.ended = gpu_time.mark()
    if _accelerator is not None:
        _accelerator.synchronize()


def _exit(node: int, look: _Look, error: type[BaseException] | None) -> None:
    began = time.perf_counter()
    if look.begun is not None and gpu_time is not None:
        gpu_time.end(node, look.begun, look.ended or gpu_time.mark())
    if look.opened is not None and peaks is not None:
        peaks.end(node, look.opened)
    if look.budget is not None:
        look.budget.charge(time.perf_counter() - began)
    if look.label is not None:
        labels.exit(look.label)
    if look.timeline is not None:
        selected_stages.exit(look.timeline)


def forget_device() -> None:
    """In a forked child, where the parent's device cannot be used."""
    global _accelerator, gpu_time, peaks
    _accelerator = gpu_time = peaks = None
    core.set_probe(probe)
    core.set_hooks(None, None, None)
    begin()


def reset() -> None:
    """Forgets all numbers, for a new run in the same process."""
    _budgets.clear()
    if gpu_time is not None:
        gpu_time.reset()
    if peaks is not None:
        peaks.reset()
