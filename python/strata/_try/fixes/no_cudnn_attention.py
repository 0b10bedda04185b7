"""no_cudnn_attention: scaled_dot_product_attention leaves cuDNN alone,
which makes a plan for every new shape."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from strata._try.fixes.base import Fix, Note, alone


class NoCudnnAttention(Fix):
    name = "no_cudnn_attention"
    switches = True
    changes = "scaled_dot_product_attention does not use cuDNN; flash attention, as a rule, takes its place."
    safe = "Always; with shapes that stay the same, cuDNN may be the faster one."
    results = "Rounding."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [(cls.name, alone(finding))] if "enable_cudnn_sdp" in str(finding.get("fix")) else []

    def on_torch(self, torch: Any) -> None:
        attention, fix = torch.nn.attention, self
        plain, backend = attention.sdpa_kernel, attention.SDPBackend

        @contextlib.contextmanager
        def sdpa_kernel(backends: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            wanted = list(backends) if isinstance(backends, (list, tuple)) else [backends]
            if fix.is_on and backend.CUDNN_ATTENTION in wanted:
                wanted = [b for b in wanted if b != backend.CUDNN_ATTENTION] or [
                    backend.FLASH_ATTENTION, backend.EFFICIENT_ATTENTION, backend.MATH]
            with plain(wanted, *args, **kwargs) as found:
                yield found

        attention.sdpa_kernel = sdpa_kernel
        self.own = torch.backends.cuda.cudnn_sdp_enabled()
        self.switch(self.is_on)

    def on_first_unit(self) -> None:
        if not self.is_on:
            self.own = sys.modules["torch"].backends.cuda.cudnn_sdp_enabled()

    def switch(self, on: bool) -> None:
        super().switch(on)
        sys.modules["torch"].backends.cuda.enable_cudnn_sdp(self.own and not on)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["torch.backends.cuda.enable_cudnn_sdp(False)"], after="import torch")]
