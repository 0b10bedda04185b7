"""bf16:MODULE: one part of the program in bfloat16."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import Fix, Note, module_argument, option, tensors_mapped
from strata._try.fixes.weights import Weights, are_trained


class Bf16(Fix):
    name = "bf16"
    takes = "MODULE"
    changes = ("Weights and inputs of the module become bfloat16, and its outputs are converted back; "
               "while it is trained it runs under autocast instead.")
    safe = "For networks; not where small differences of large numbers matter."
    results = "Relative differences of about 1e-2: bfloat16 has 7 bits of mantissa."
    order = 4
    switches = True

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        self.trains = False
        self.weights: Weights | None = None
        if arguments[1:]:
            super().read(arguments[1:])

    @property
    def slot(self) -> str:
        return f"type:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        found = option(finding, "bf16")
        if finding.get("rule") != "float32_products" or found is None:
            return []
        return [(f"bf16:{module or 'model'}", found)]

    def on_module(self, module: Any) -> None:
        torch = sys.modules["torch"]
        self.trains = are_trained(module, self.is_training or (
            bool(module.training) and torch.is_grad_enabled()))
        if not self.trains:
            self.weights = Weights(module, lambda t: t.to(torch.bfloat16) if (
                t.is_floating_point()) else t)
            self.switch(self.is_on)
        self.wrap(module)

    def switch(self, on: bool) -> None:
        super().switch(on)
        if self.weights is not None:
            self.weights.change(on, self.is_shared)

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        torch = sys.modules["torch"]
        kinds = {"cuda", "xpu", "cpu"}
        if self.trains:
            with torch.autocast("cuda" if torch.cuda.is_initialized() else "cpu", torch.bfloat16):
                return plain(*args, **kwargs)
        wide = [torch.float32]

        def narrow(t: Any) -> Any:
            if t.is_floating_point() and t.dtype != torch.bfloat16 and t.device.type in kinds:
                wide[0] = t.dtype
                return t.to(torch.bfloat16)
            return t

        args, kwargs = tensors_mapped((args, kwargs), narrow)
        back = lambda t: t.to(wide[0]) if t.dtype == torch.bfloat16 else t  # noqa: E731
        return tensors_mapped(plain(*args, **kwargs), back)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        if seen.get("trains"):
            return [Note(['with torch.autocast("cuda", torch.bfloat16):  # around the forward pass'])]
        return [Note([f"{written}.to(torch.bfloat16)"], after=written),
                Note(["# and its inputs: x.to(torch.bfloat16)"])]
