"""What the machine did during the measurement: clocks, temperature, power and throttling of an NVIDIA
device, from its management library; how busy the processors were."""
from __future__ import annotations

import ctypes
import os
from typing import Any

REASONS = {0x4: "power cap", 0x8: "hardware slowdown", 0x20: "thermal slowdown (software)",
           0x40: "thermal slowdown (hardware)", 0x80: "power brake"}
CLOCK_SPREAD_PCT = 3.0  # a clock that moves more than this moves the times


class Clocks:
    """Sampled occasionally, never while something is timed."""

    def __init__(self, device: str) -> None:
        self.samples: list[dict[str, int]] = []
        self.nvml: Any = None
        self.handle = ctypes.c_void_p()
        self.load = _load()
        if device.startswith("cuda"):
            try:
                self._open(device)
            except Exception:  # no library, no permission: times are measured anyway
                self.nvml = None

    def _open(self, device: str) -> None:
        import torch
        index = torch.device(device).index
        properties = torch.cuda.get_device_properties(0 if index is None else index)
        name = str(getattr(properties, "uuid", ""))
        name = name if name.startswith("GPU-") else f"GPU-{name}"
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByUUID(
                name.encode(), ctypes.byref(self.handle)) == 0:
            self.nvml = nvml

    def sample(self) -> None:
        """One look; some microseconds."""
        if self.nvml is None:
            return
        value, reasons = ctypes.c_uint(), ctypes.c_ulonglong()
        found = {}
        ask = (("sm_mhz", "nvmlDeviceGetClockInfo", 1), ("memory_mhz", "nvmlDeviceGetClockInfo", 2),
               ("max_sm_mhz", "nvmlDeviceGetMaxClockInfo", 1),
               ("temperature_c", "nvmlDeviceGetTemperature", 0))
        for key, function, which in ask:
            if getattr(self.nvml, function)(self.handle, which, ctypes.byref(value)) == 0:
                found[key] = value.value
        if self.nvml.nvmlDeviceGetPowerUsage(self.handle, ctypes.byref(value)) == 0:
            found["power_w"] = value.value // 1000
        if self.nvml.nvmlDeviceGetCurrentClocksThrottleReasons(
                self.handle, ctypes.byref(reasons)) == 0:
            found["reasons"] = reasons.value
        self.samples.append(found)

    def as_dict(self) -> dict[str, Any]:
        """Ranges of what was seen, and what throttled the clocks."""
        out: dict[str, Any] = {"load_average": self.load, "cpus": len(os.sched_getaffinity(0))}
        for key in ("sm_mhz", "memory_mhz", "temperature_c", "power_w"):
            seen = [s[key] for s in self.samples if key in s]
            if seen:
                out[f"min_{key}"], out[f"max_{key}"] = min(seen), max(seen)
        limits = [s["max_sm_mhz"] for s in self.samples if "max_sm_mhz" in s]
        if limits:
            out["limit_sm_mhz"] = limits[0]
        if self.samples:
            mask = 0
            for s in self.samples:
                mask |= s.get("reasons", 0)
            out["throttled_by"] = [word for bit, word in REASONS.items() if mask & bit]
        return out

    def words(self) -> list[str]:
        """One line for people, and warnings."""
        found = self.as_dict()
        lines = []
        if "min_sm_mhz" in found:
            low, high, limit = found["min_sm_mhz"], found["max_sm_mhz"], found.get("limit_sm_mhz", 0)
            span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            held = found.get("throttled_by", [])
            lines.append(f"SM clock {span} MHz (limit {limit:,}), {found.get('max_temperature_c', 0)} C, "
                         + (f"throttled by {', '.join(held)}" if held else "not throttled"))
            if low and 100 * (high - low) / low > CLOCK_SPREAD_PCT:
                lines.append("the clock changed during the measurement, and times vary with it")
        if found["load_average"] > 0.7 * found["cpus"]:
            lines.append(f"the machine was busy before the measurement (load {found['load_average']:.1f} on "
                         f"{found['cpus']} processors): CPU times vary")
        return lines


def _load() -> float:
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0
