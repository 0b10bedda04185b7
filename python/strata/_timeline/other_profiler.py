"""torch.profiler inside a program whose timeline CUPTI records: CUPTI delivers its records to one of
the two. Our library is notified when the other begins and ends, so that everything before and after
is complete, and the summary of the run says which profiler had the records in between."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def _on_cuda(profile: Any) -> bool:
    return getattr(profile, "use_device", None) == "cuda" or bool(getattr(profile, "use_cuda", False))


def watch(profile: Any, tell: Callable[[int], Any]) -> None:
    """`profile` is torch.autograd.profiler.profile, of which torch.profiler makes one per trace; tell(1)
    runs before it uses CUPTI, tell(0) after it has released it."""
    prepare, leave = profile._prepare_trace, profile.__exit__

    @functools.wraps(prepare)
    def _prepare_trace(self: Any) -> Any:
        if not _on_cuda(self):
            return prepare(self)
        self._strata_met = True
        tell(1)
        try:
            return prepare(self)
        except BaseException:
            del self._strata_met
            tell(0)
            raise

    @functools.wraps(leave)
    def __exit__(self: Any, *why: Any) -> Any:
        try:
            return leave(self, *why)
        finally:
            if self.__dict__.pop("_strata_met", False):
                tell(0)

    profile._prepare_trace, profile.__exit__ = _prepare_trace, __exit__


MONITOR = "torch.profiler._cupti_monitor"


def watch_monitor(module: Any, tell: Callable[[int], Any]) -> None:
    """The same for torch's CUPTI monitor, which records all the time, without subscribing: `module` is
    torch.profiler._cupti_monitor. One that runs already was there first."""
    monitor = module.CuptiMonitor
    start, stop = monitor.start, monitor.stop

    @functools.wraps(start)
    def starts(self: Any) -> Any:
        if self._started:
            return start(self)
        tell(1)
        try:
            return start(self)
        except BaseException:
            tell(0)
            raise

    @functools.wraps(stop)
    def stops(self: Any) -> Any:
        begun = self._started
        try:
            return stop(self)
        finally:
            if begun and not self._started:
                tell(0)

    monitor.start, monitor.stop = starts, stops
    running = module.get_monitor()
    if running is not None and running._started:
        tell(1)
