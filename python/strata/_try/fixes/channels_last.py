"""channels_last:MODULE: convolutions of one part of the program in NHWC order."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import Fix, Note, Unfit, alone, module_argument, tensors_mapped
from strata._try.fixes.weights import Weights


class ChannelsLast(Fix):
    name = "channels_last"
    takes = "MODULE"
    changes = "Weights and inputs of the module are kept in the order its convolutions want (NHWC)."
    safe = "Always; an operator that only has the other order converts back, and gains nothing."
    results = "Rounding: other convolution kernels."
    order = 3
    switches = True

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        self.weights: Weights | None = None
        if arguments[1:]:
            super().read(arguments[1:])

    @property
    def slot(self) -> str:
        return f"layout:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        volumes = finding.get("rule") == "cheaper_way" and "channels_last_3d" in str(finding.get("fix"))
        if finding.get("rule") != "conv_layout" and not volumes:
            return []
        return [(f"channels_last:{module or 'model'}", alone(finding))]

    def seen_of(self, module: Any) -> dict[str, Any]:
        dims = {p.dim() for p in module.parameters()}
        return {"volumes": 5 in dims and 4 not in dims}

    def on_module(self, module: Any) -> None:
        torch = sys.modules["torch"]
        dims = {p.dim() for p in module.parameters()}
        if not dims & {4, 5}:
            raise Unfit("the module has no convolutions")
        self.formats = {4: torch.channels_last, 5: torch.channels_last_3d}
        self.weights = Weights(module, self._laid_out, lambda t: t.contiguous(), self.is_training)
        self.switch(self.is_on)
        self.wrap(module)

    def _laid_out(self, t: Any) -> Any:
        form = self.formats.get(t.dim())
        return t if form is None else t.contiguous(memory_format=form)

    def switch(self, on: bool) -> None:
        super().switch(on)
        if self.weights is not None:
            self.weights.change(on, self.is_shared)

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        args, kwargs = tensors_mapped((args, kwargs), self._laid_out)
        return plain(*args, **kwargs)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        order = "channels_last_3d" if seen.get("volumes") else "channels_last"
        return [Note([f"{written}.to(memory_format=torch.{order})"], after=written)]
