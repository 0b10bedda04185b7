"""The device a program computes on, as torch shows it: torch.cuda, torch.xpu, torch.npu and their
like have the same functions. Never imports torch, never wakes up a device the program does not
use: it looks at what is there."""
from __future__ import annotations

import sys
from typing import Any

KINDS = ("cuda", "xpu", "npu", "mtia", "hpu")


def capturing(torch: Any, device: Any = None) -> bool:
    """Whether the current stream records a graph: the device must not be queried then."""
    kind = getattr(device, "type", "cuda")
    ask = getattr(getattr(torch, kind, None), "is_current_stream_capturing", None)
    return bool(ask()) if ask is not None else False


class Accelerator:
    """One kind of device, in use by the program."""

    def __init__(self, torch: Any, kind: str) -> None:
        self.torch = torch
        self.kind = kind
        self.module = getattr(torch, kind)

    def capturing(self) -> bool:
        ask = getattr(self.module, "is_current_stream_capturing", None)
        return bool(ask()) if ask is not None else False

    def synchronize(self) -> None:
        if not self.capturing():
            self.module.synchronize()

    def event(self) -> Any:
        return self.module.Event(enable_timing=True)

    def devices(self) -> range:
        return range(self.module.device_count())

    def memory_stats(self, index: int) -> dict[str, int]:
        """Bytes: allocated, reserved and their peaks since the last reset."""
        nested = getattr(self.module, "memory_stats_as_nested_dict", None)
        if nested is not None:
            stats = nested(device=index)
            if not stats:
                return {}
            now, kept = stats["allocated_bytes"]["all"], stats["reserved_bytes"]["all"]
            return {"allocated": now["current"], "peak_allocated": now["peak"],
                    "reserved": kept["current"], "peak_reserved": kept["peak"]}
        return {"allocated": self.module.memory_allocated(index),
                "peak_allocated": self.module.max_memory_allocated(index),
                "reserved": self.module.memory_reserved(index),
                "peak_reserved": self.module.max_memory_reserved(index)}

    def reset_peaks(self, index: int) -> None:
        self.module.reset_peak_memory_stats(index)

    def free_and_total(self, index: int) -> tuple[int, int] | None:
        ask = getattr(self.module, "mem_get_info", None)
        try:
            return ask(index) if ask is not None else None
        except Exception:
            return None


def find() -> Accelerator | None:
    """The accelerator the program has begun to use, if any."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        return None
    for kind in KINDS:
        ready = getattr(getattr(torch, kind, None), "is_initialized", None)
        if ready is not None and ready():
            return Accelerator(torch, kind)
    return None
