"""channels_last:MODULE: convolutions of one part of the program in NHWC order."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import Fix, Note, alone, module_argument, tensors_mapped


class ChannelsLast(Fix):
    name = "channels_last"
    takes = "MODULE"
    changes = "Weights and inputs of the module are kept in the order its convolutions want (NHWC)."
    safe = "Always; an operator that only has the other order converts back, and gains nothing."
    results = "Rounding: other convolution kernels."
    order = 3

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        if arguments[1:]:
            super().read(arguments[1:])

    @property
    def slot(self) -> str:
        return f"layout:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        if finding.get("rule") != "conv_layout":
            return []
        return [(f"channels_last:{module or 'model'}", alone(finding))]

    def on_module(self, module: Any) -> None:
        from strata._try.inside import modules
        torch = sys.modules["torch"]
        dims = {p.dim() for p in module.parameters()}
        if not dims & {4, 5}:
            raise RuntimeError("the module has no convolutions")
        if 4 in dims:
            module.to(memory_format=torch.channels_last)
        if 5 in dims:
            for p in module.parameters():
                if p.dim() == 5:
                    p.data = p.data.contiguous(memory_format=torch.channels_last_3d)
        modules.around(module, self._call)

    def _call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        torch = sys.modules["torch"]
        formats = {4: torch.channels_last, 5: torch.channels_last_3d}

        def laid_out(t: Any) -> Any:
            return t.contiguous(memory_format=formats[t.dim()]) if t.dim() in formats else t

        args, kwargs = tensors_mapped((args, kwargs), laid_out)
        return plain(*args, **kwargs)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"{written}.to(memory_format=torch.channels_last)"], after=written)]
