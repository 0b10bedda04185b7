"""The device of a program by TeleFuser's name for it: current_platform."""
from __future__ import annotations

from typing import Any

from strata._base.device import KINDS


class _Platform:
    """The device that torch computes on here, or the CPU."""

    @property
    def device_type(self) -> str:
        """cuda, xpu, npu, ... or cpu."""
        import torch
        for kind in KINDS:
            available = getattr(getattr(torch, kind, None), "is_available", None)
            if available is not None and available():
                return kind
        return "cpu"

    def _module(self) -> Any:
        import torch
        return getattr(torch, self.device_type, None)

    def synchronize(self) -> None:
        """Waits until the device has done what it was given."""
        if self.device_type != "cpu":
            self._module().synchronize()

    def empty_cache(self) -> None:
        """Gives memory that the allocator keeps unused back to the device."""
        release = getattr(self._module(), "empty_cache", None)
        if release is not None:
            release()


current_platform = _Platform()
