"""cudnn_benchmark: cuDNN tries its algorithms and keeps the fastest."""
from __future__ import annotations

import sys
from typing import Any

from strata._try.fixes.base import Fix, Note


class CudnnBenchmark(Fix):
    name = "cudnn_benchmark"
    switches = True
    changes = "cuDNN measures its algorithms at the first convolution of each shape."
    safe = "If shapes do not change all the time."
    results = "Rounding: other convolution kernels."

    def on_torch(self, torch: Any) -> None:
        self.own = False
        self.switch(self.is_on)

    def on_first_unit(self) -> None:
        if not self.is_on:
            self.own = sys.modules["torch"].backends.cudnn.benchmark
        self.switch(self.is_on)

    def switch(self, on: bool) -> None:
        super().switch(on)
        sys.modules["torch"].backends.cudnn.benchmark = on or self.own

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["torch.backends.cudnn.benchmark = True"], after="import torch")]
