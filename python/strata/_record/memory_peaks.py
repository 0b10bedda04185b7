"""The device memory of every stage: what it holds at its end, and the peak while it ran.

torch keeps one peak, which has to be reset to see the next. So whenever a stage begins or ends the
peak since the last look is added to every open stage, and reset: stages inside one another keep
correct peaks of their own. The program's own view (torch.cuda.max_memory_allocated) must not change
by that: the peaks taken away are added back to what it is shown."""
from __future__ import annotations

import functools
import time
from typing import Any

from strata._base.device import Accelerator

LOOK_AGAIN_S = 1.0  # for devices that have come into use


class StageMemory:
    """Bytes of one stage on one device."""

    __slots__ = ("allocated", "reserved", "peak_allocated", "peak_reserved")

    def __init__(self) -> None:
        self.allocated = self.reserved = self.peak_allocated = self.peak_reserved = 0

    def as_dict(self) -> dict[str, int]:
        return {"allocated_bytes": self.allocated, "reserved_bytes": self.reserved,
                "peak_allocated_bytes": self.peak_allocated,
                "peak_reserved_bytes": self.peak_reserved}


class _Open:
    """A stage that runs: the peaks seen so far, by device."""

    __slots__ = ("peaks",)

    def __init__(self) -> None:
        self.peaks: dict[int, list[int]] = {}


class Peaks:
    """Memory by node and device."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.stages: dict[int, dict[int, StageMemory]] = {}
        self._open: list[_Open] = []
        self._devices: list[int] = []
        self._looked = -LOOK_AGAIN_S
        self._view = _ProgramsView(accelerator)

    def begin(self) -> _Open:
        self._look()
        opened = _Open()
        self._open.append(opened)
        return opened

    def close(self, opened: _Open) -> dict[int, list[int]]:
        """What was begun ends, and is of no stage: its peaks, allocated and reserved, by device."""
        self._look()
        if opened in self._open:
            self._open.remove(opened)
        return opened.peaks

    def accumulated(self) -> dict[int, int]:
        """The most that was reserved since the program last reset its peaks, by device."""
        self._look()
        return {device: reserved for device, (_, reserved) in self._view.taken.items()}

    def end(self, node: int, opened: _Open) -> None:
        now = self._look()
        if opened in self._open:
            self._open.remove(opened)
        for device, stats in now.items():
            memory = self.stages.setdefault(node, {}).setdefault(device, StageMemory())
            allocated, reserved = opened.peaks.get(device, (0, 0))
            memory.allocated, memory.reserved = stats["allocated"], stats["reserved"]
            memory.peak_allocated = max(memory.peak_allocated, allocated)
            memory.peak_reserved = max(memory.peak_reserved, reserved)

    def _look(self) -> dict[int, dict[str, int]]:
        self._find_devices()
        seen = {}
        for device in self._devices:
            stats = self.accelerator.memory_stats(device)
            if not stats:
                continue
            seen[device] = stats
            peaks = (stats["peak_allocated"], stats["peak_reserved"])
            for opened in self._open:
                known = opened.peaks.setdefault(device, [0, 0])
                known[0], known[1] = max(known[0], peaks[0]), max(known[1], peaks[1])
            self._view.reset(device, peaks)
        return seen

    def _find_devices(self) -> None:
        now = time.monotonic()
        if now - self._looked < LOOK_AGAIN_S:
            return
        self._looked = now
        self._devices = [i for i in self.accelerator.devices()
                         if self.accelerator.memory_stats(i).get("peak_reserved")]

    def reset(self) -> None:
        self.stages.clear()


class _ProgramsView:
    """Keeps torch's own peaks right for other users."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.taken: dict[int, tuple[int, int]] = {}
        self.memory = getattr(accelerator.module, "memory", None)
        self.plain_reset = accelerator.module.reset_peak_memory_stats
        if hasattr(self.memory, "memory_stats"):
            self._patch("memory_stats", self._stats)
            self._patch("reset_peak_memory_stats", self._reset)

    def _patch(self, name: str, instead: Any) -> None:
        plain = getattr(self.memory, name)
        wrapper = functools.wraps(plain)(functools.partial(instead, plain))
        setattr(self.memory, name, wrapper)
        if getattr(self.accelerator.module, name, None) is plain:
            setattr(self.accelerator.module, name, wrapper)

    def _index(self, device: Any) -> int:
        if isinstance(device, int):
            return device
        index = getattr(device, "index", None)
        if isinstance(device, str) and ":" in device:
            index = int(device.rpartition(":")[2])
        return index if index is not None else self.accelerator.module.current_device()

    def reset(self, device: int, peaks: tuple[int, int]) -> None:
        before = self.taken.get(device, (0, 0))
        self.taken[device] = (max(before[0], peaks[0]), max(before[1], peaks[1]))
        self.plain_reset(device)

    def _stats(self, plain: Any, device: Any = None) -> Any:
        stats = plain(device)
        taken = self.taken.get(self._index(device))
        for kind, peak in zip(("allocated_bytes", "reserved_bytes"), taken or ()):
            key = f"{kind}.all.peak"
            if key in stats:
                stats[key] = max(stats[key], peak)
        return stats

    def _reset(self, plain: Any, device: Any = None) -> None:
        self.taken.pop(self._index(device), None)
        plain(device)
