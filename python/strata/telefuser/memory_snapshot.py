"""The memory functions of TeleFuser, on top of strata.memory; strata.telefuser offers them."""
from __future__ import annotations

from typing import Any

from strata import memory as _memory

MB = 1024 ** 2


class MemorySnapshot:
    """Memory of the device in most use at one moment."""

    __slots__ = ("allocated_mb", "reserved_mb", "peak_allocated_mb", "peak_reserved_mb")

    def __init__(self, allocated_mb: float, reserved_mb: float, peak_allocated_mb: float,
                 peak_reserved_mb: float) -> None:
        self.allocated_mb = allocated_mb
        self.reserved_mb = reserved_mb
        self.peak_allocated_mb = peak_allocated_mb
        self.peak_reserved_mb = peak_reserved_mb

    def to_dict(self) -> dict[str, float]:
        return {name: round(getattr(self, name), 2) for name in self.__slots__}

    def __getattr__(self, name: str) -> float:
        """The same in GB."""
        in_mb = name.removesuffix("_gb") + "_mb"
        if not name.endswith("_gb") or in_mb not in (*self.__slots__, "pool_overhead_mb"):
            raise AttributeError(name)
        return getattr(self, in_mb) / 1024

    @property
    def pool_overhead_mb(self) -> float:
        """Held by the allocator, in no use."""
        return self.reserved_mb - self.allocated_mb

    @property
    def pool_overhead_pct(self) -> float:
        return 100 * self.pool_overhead_mb / self.reserved_mb if self.reserved_mb else 0.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySnapshot) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        return "MemorySnapshot(" + ", ".join(f"{k}={v}" for k, v in self.to_dict().items()) + ")"


def _in_mb(moment: dict[str, Any], device: Any = None) -> MemorySnapshot:
    devices = moment["devices"]
    name = str(device) if device is not None else ""
    if name in devices:
        most = devices[name]
    else:
        most = max(devices.values(), key=lambda d: d["peak_reserved_bytes"], default={})
    return MemorySnapshot(*(most.get(f"{key}_bytes", 0) / MB for key in (
        "allocated", "reserved", "peak_allocated", "peak_reserved")))


def capture_memory_snapshot(device: Any = None) -> MemorySnapshot:
    """The memory of this moment, of `device` or of the one in most use."""
    return _in_mb(_memory.current(), device)


def get_memory_info(device: Any = None) -> dict[str, float]:
    """The same as a dictionary."""
    return capture_memory_snapshot(device).to_dict()


def record_memory_snapshot(checkpoint_name: str) -> MemorySnapshot:
    """Remembers the memory of this moment for the report."""
    return _in_mb(_memory.snapshot(checkpoint_name))


def set_memory_baseline() -> MemorySnapshot:
    """What the report compares with."""
    return _in_mb(_memory.baseline())


def get_memory_snapshots() -> dict[str, MemorySnapshot]:
    """Those that were recorded, by name."""
    return {name: _in_mb(s) for name, s in _memory.analysis().get("snapshots", {}).items()}


def reset_memory_registry() -> None:
    """Forgets baseline and snapshots."""
    _memory.reset()


def get_memory_analysis() -> dict[str, Any]:
    """Of the snapshot with the highest peak: pool overhead, room left, increase since the baseline;
    empty when there is no snapshot."""
    found = _memory.analysis()
    if not found.get("snapshots"):
        return {}
    moments = dict(found["snapshots"])
    shots = {name: _in_mb(s) for name, s in moments.items()}
    peak = max(shots, key=lambda name: shots[name].peak_reserved_mb)
    most = shots[peak]
    totals = [d.get("total_bytes", 0) / MB for d in moments[peak]["devices"].values()]
    total = max(totals, default=0.0)
    out: dict[str, Any] = {
        "peak_reserved_mb": most.peak_reserved_mb, "peak_allocated_mb": most.peak_allocated_mb,
        "pool_overhead_mb": most.pool_overhead_mb, "pool_overhead_pct": most.pool_overhead_pct,
        "total_device_memory_mb": total,
        "remaining_memory_mb": max(total - most.peak_reserved_mb, 0.0),
    }
    if "baseline" in found:
        before = _in_mb(found["baseline"])
        out["memory_increase_mb"] = most.peak_reserved_mb - before.reserved_mb
        out["baseline"] = before.to_dict()
    out.update({key.removesuffix("_mb") + "_gb": value / 1024 for key, value in list(out.items())
                if key.endswith("_mb")})
    out["snapshots"] = {name: s.to_dict() for name, s in shots.items()}
    return out


def print_memory_analysis() -> None:
    """The snapshots, on standard output."""
    print(_memory.table())


def reset_peak_memory_stats(device: Any = None) -> None:
    """Resets torch's own peaks; those of stages are kept apart from them."""
    from strata._base.device import find
    accelerator = find()
    if accelerator is not None:
        for index in accelerator.devices():
            if device is None or str(device) in (str(index), f"{accelerator.kind}:{index}"):
                accelerator.reset_peaks(index)
