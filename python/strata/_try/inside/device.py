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


def synchronize() -> None:
    """Waits for the device, if the program uses one."""
    found = device.find()
    if found is None or found.capturing():
        return
    _plain.get(f"{found.kind}.synchronize", found.module.synchronize)()


class Stamp:
    """A moment of the program: of the device's queue where there is one, so that nothing has to
    wait for it, and of the clock."""

    __slots__ = ("at", "event")

    def __init__(self) -> None:
        self.event: Any = None
        found = device.find()
        if found is not None and found.kind == "cuda" and not found.capturing():
            self.event = found.event()
            self.event.record()
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
