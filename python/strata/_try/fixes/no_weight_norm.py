"""no_weight_norm:MODULE: weights are computed from length and direction once, not at every call."""
from __future__ import annotations

import sys
from typing import Any

from strata._try.fixes.base import Fix, Note, Unfit, alone, module_argument


class NoWeightNorm(Fix):
    name = "no_weight_norm"
    takes = "MODULE"
    changes = "Weight norm of the module's layers is folded into their weights."
    safe = "For inference."
    results = "Nothing, or rounding."
    order = 2

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        if arguments[1:]:
            super().read(arguments[1:])

    @property
    def slot(self) -> str:
        return f"{self.name}:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "repeated_work" and "weight_norm" in str(finding.get("fix"))
        return [(f"{cls.name}:{module or 'model'}", alone(finding))] if fits else []

    def on_module(self, module: Any) -> None:
        if self.is_training:
            raise Unfit("the program trains: weights change with every step")
        if not sum(_fold(layer) for layer in module.modules()):
            raise Unfit("no layer of the module has weight norm")

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["from torch.nn.utils import parametrize", f"for layer in {written}.modules():",
                      '    if parametrize.is_parametrized(layer, "weight"):',
                      '        parametrize.remove_parametrizations(layer, "weight")',
                      "# with the older torch.nn.utils.weight_norm: nn.utils.remove_weight_norm(layer)"],
                     after=written)]


def _fold(layer: Any) -> int:
    """How many weights of the layer had it."""
    utils = sys.modules["torch"].nn.utils
    n = 0
    for hook in list(layer._forward_pre_hooks.values()):
        if type(hook).__name__ == "WeightNorm":
            utils.remove_weight_norm(layer, hook.name)
            n += 1
    own = getattr(layer, "parametrizations", {})
    for name in list(own):
        if [type(p).__name__ for p in own[name]] == ["_WeightNorm"]:
            utils.parametrize.remove_parametrizations(layer, name, leave_parametrized=True)
            n += 1
    return n
