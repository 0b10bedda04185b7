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
        torch.backends.cudnn.benchmark = True

    def on_first_unit(self) -> None:
        self.on_torch(sys.modules["torch"])

    def switch(self, on: bool) -> None:
        sys.modules["torch"].backends.cudnn.benchmark = on

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["torch.backends.cudnn.benchmark = True"], after="import torch")]
