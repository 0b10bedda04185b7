"""tf32: matrix multiplications and convolutions of float32 on tensor cores."""
from __future__ import annotations

import sys
from typing import Any

from strata._try.fixes.base import Fix, Note, alone, option


class Tf32(Fix):
    name = "tf32"
    switches = True
    changes = ("float32 matrix multiplications and convolutions run on tensor cores with 10 bits of "
               "mantissa.")
    safe = "Nearly always for inference and training of networks; not for solvers and statistics."
    results = "Relative differences of about 1e-3 in each multiplication."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        if finding.get("rule") != "float32_products":
            return []
        found = option(finding, "tf32")
        return [("tf32", alone(finding) if found is None else found)]

    def on_torch(self, torch: Any) -> None:
        self.own = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
        self.switch(self.is_on)

    def on_first_unit(self) -> None:
        torch = sys.modules["torch"]
        if not self.is_on:
            self.own = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
        self.switch(self.is_on)

    def switch(self, on: bool) -> None:
        super().switch(on)
        torch = sys.modules["torch"]
        precision, convolutions = ("high", True) if on else self.own
        torch.set_float32_matmul_precision(precision)
        torch.backends.cudnn.allow_tf32 = convolutions

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(['torch.set_float32_matmul_precision("high")'], after="import torch")]
