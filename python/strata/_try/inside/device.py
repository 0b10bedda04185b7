"""Clocks of the device the program computes on; the CPU's where there is none. Keeps torch's own
functions: a fix may replace them for the program."""
from __future__ import annotations

import sys
import time
from typing import Any

from strata._base import device

_plain: dict[str, Any] = {}  # functions of torch as they were before any fix


def keep(name: str, function: Any) -> None:
    """A fix is about to replace this function."""
    _plain.setdefault(name, function)


def is_capturing() -> bool:
    """Whether the program makes a graph: nothing may be recorded or waited for."""
    found = device.find()
    return found is not None and found.capturing()


def _in_use(found: Any) -> list[int]:
    """The devices on which the program has memory, most of it first; none if there is just one device, or
    if that is not known."""
    module = found.module
    try:
        n = module.device_count()
        sizes = {i: module.memory_allocated(i) for i in range(n)} if n > 1 else {}
    except Exception:
        return []
    return sorted((i for i, size in sizes.items() if size), key=lambda i: -sizes[i])


def synchronize() -> None:
    """Waits for the device, if the program uses one; for all that it uses."""
    found = device.find()
    if found is None or found.capturing():
        return
    wait = _plain.get(f"{found.kind}.synchronize", found.module.synchronize)
    used = _in_use(found)
    for which in used:
        wait(which)
    if not used:
        wait()


_chosen: list[int] = []  # of several devices the one whose clock is read, once one is in use


def _stream(found: Any) -> list[Any]:
    """The stream to record on, unless it is the current one: a program may leave the first of several devices
    alone."""
    if not _chosen:
        _chosen.extend(_in_use(found)[:1])
    return [found.module.current_stream(_chosen[0])] if _chosen else []


class Stamp:
    """A moment of the program: of the device's queue where there is one, so that nothing has to
    wait for it, and of the clock."""

    __slots__ = ("at", "event")

    def __init__(self) -> None:
        self.event: Any = None
        found = device.find()
        if found is not None and found.kind == "cuda" and not found.capturing():
            self.event = found.event()
            self.event.record(*_stream(found))
        self.at = time.perf_counter()

    def is_done(self) -> bool:
        return self.event is None or self.event.query()

    def ms_since(self, before: Stamp) -> float:
        if self.event is not None and before.event is not None:
            return before.event.elapsed_time(self.event)
        return (self.at - before.at) * 1e3


def described() -> dict[str, Any]:
    """The machine, for the report."""
    torch = sys.modules.get("torch")
    found = device.find()
    out: dict[str, Any] = {"torch": str(getattr(torch, "__version__", "")), "device": "cpu"}
    if found is not None:
        try:
            out["device"] = found.kind
            out["device_name"] = found.module.get_device_name()
            out["peak_bytes"] = found.module.max_memory_allocated()
        except Exception:  # a device that failed: what is known is enough
            pass
    return out
