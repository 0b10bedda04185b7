"""tf32: matrix multiplications and convolutions of float32 on tensor cores."""
from __future__ import annotations

import sys
from typing import Any

from strata._try.fixes.base import Fix, Note, alone, option


class Tf32(Fix):
    name = "tf32"
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
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True

    def on_first_unit(self) -> None:
        self.on_torch(sys.modules["torch"])

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(['torch.set_float32_matmul_precision("high")'], after="import torch")]
