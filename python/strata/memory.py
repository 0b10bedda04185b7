"""Memory at named moments: a baseline, snapshots, the increase since, what the allocator holds but
does not use, and the free memory of the device.

    strata.memory.baseline()
    ...
    strata.memory.snapshot("after_load")
    print(strata.memory.table())

Without a device the host's memory is reported."""
from __future__ import annotations

import os
from typing import Any

from strata._base.device import find
from strata._base.units import size

MOST_SNAPSHOTS = 10000

_baseline: dict[str, Any] | None = None
_snapshots: dict[str, dict[str, Any]] = {}


def _rss_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0


def current() -> dict[str, Any]:
    """Bytes now: of the host process, and of each device in use."""
    out: dict[str, Any] = {"rss_bytes": _rss_bytes(), "devices": {}}
    accelerator = find()
    if accelerator is None:
        return out
    for index in accelerator.devices():
        stats = accelerator.memory_stats(index)
        if not stats:
            continue
        device = {f"{key}_bytes": value for key, value in stats.items()}
        room = accelerator.free_and_total(index)
        if room is not None:
            device["free_bytes"], device["total_bytes"] = room
        out["devices"][f"{accelerator.kind}:{index}"] = device
    return out


def baseline() -> dict[str, Any]:
    """Sets the baseline for later snapshots."""
    global _baseline
    _baseline = current()
    return _baseline


def snapshot(name: str) -> dict[str, Any]:
    """Records memory at this moment under a name; the same name again replaces it."""
    found = current()
    if name in _snapshots or len(_snapshots) < MOST_SNAPSHOTS:
        _snapshots[name] = found
    return found


def _increase(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"rss_bytes": now["rss_bytes"] - before["rss_bytes"], "devices": {}}
    for name, device in now["devices"].items():
        old = before["devices"].get(name, {})
        out["devices"][name] = {key: device[key] - old.get(key, 0)
                                for key in ("allocated_bytes", "reserved_bytes")}
    return out


def _pools(now: dict[str, Any]) -> dict[str, Any]:
    """How much of the allocator's memory is unused, and how much is still available."""
    out = {}
    for name, device in now["devices"].items():
        reserved, allocated = device["reserved_bytes"], device["allocated_bytes"]
        idle = reserved - allocated
        pool: dict[str, Any] = {"pool_overhead_bytes": idle,
                                "pool_overhead_pct": 100 * idle / reserved if reserved else 0.0}
        if "free_bytes" in device:
            pool["remaining_bytes"] = device["free_bytes"] + idle
            pool["total_bytes"] = device["total_bytes"]
        out[name] = pool
    return out


def analysis() -> dict[str, Any]:
    """Baseline, snapshots, increase, pools; empty when neither was taken."""
    if _baseline is None and not _snapshots:
        return {}
    now = current()
    out: dict[str, Any] = {"current": now, "pools": _pools(now), "snapshots": dict(_snapshots)}
    if _baseline is not None:
        out["baseline"] = _baseline
        out["increase"] = _increase(now, _baseline)
        for name, found in _snapshots.items():
            out["snapshots"][name] = {**found, "increase": _increase(found, _baseline)}
    return out


def table() -> str:
    """The snapshots for people."""
    found = {**({"baseline": _baseline} if _baseline else {}), **_snapshots, "now": current()}
    lines = []
    for name, moment in found.items():
        parts = [f"host {size(moment['rss_bytes'])}"]
        for device, m in moment["devices"].items():
            parts.append(f"{device} {size(m['allocated_bytes'])} in use, "
                         f"{size(m['reserved_bytes'])} held, peak {size(m['peak_reserved_bytes'])}")
        lines.append(f"{name:<24} " + "; ".join(parts))
    for device, pool in _pools(found["now"]).items():
        room = f", {size(pool['remaining_bytes'])} free" if "remaining_bytes" in pool else ""
        lines.append(f"{device}: {size(pool['pool_overhead_bytes'])} held but not in use "
                     f"({pool['pool_overhead_pct']:.0f} %){room}")
    return "\n".join(lines)


def reset() -> None:
    """Forgets baseline and snapshots."""
    global _baseline
    _baseline = None
    _snapshots.clear()
