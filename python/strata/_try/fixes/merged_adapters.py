"""merged_adapters:MODULE: low-rank adapters are part of the weights instead of computed beside them."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Already, Fix, Note, Unfit, alone, module_argument


class MergedAdapters(Fix):
    name = "merged_adapters"
    takes = "MODULE"
    switches = True
    settles = 1
    changes = "Adapters of PEFT are added into the weights of the module's layers."
    safe = "For inference, where all calls use the same adapter."
    results = "Rounding: merged weights have the precision of the weights."
    order = 2

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        if arguments[1:]:
            super().read(arguments[1:])
        self.layers: list[Any] = []
        self.before: dict[int, Any] = {}  # the weights, so that they come back bit by bit

    @property
    def slot(self) -> str:
        return f"{self.name}:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "cheaper_way" and "merge_and_unload" in str(finding.get("fix"))
        return [(f"{cls.name}:{module or 'model'}", alone(finding))] if fits else []

    def on_module(self, module: Any) -> None:
        if self.is_training:
            raise Unfit("the program trains: adapters change with every step")
        found = [m for m in module.modules() if _is_adapted(m)]
        if not found:
            raise Unfit("no layer of the module has an adapter of PEFT")
        self.layers = [m for m in found if not m.merged]
        if not self.layers:
            raise Already("its adapters are merged")
        self.switch(self.is_on)

    def switch(self, on: bool) -> None:
        super().switch(on)
        for layer in self.layers:
            if on and not layer.merged:
                weight = layer.get_base_layer().weight
                self.before[id(layer)] = weight.detach().clone()
                layer.merge()
            elif not on and layer.merged:
                layer.unmerge()
                weight = layer.get_base_layer().weight
                weight.data.copy_(self.before.pop(id(layer), weight))

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"{written} = {written}.merge_and_unload()  # PEFT; of diffusers: pipe.fuse_lora()"],
                     after=written)]


def _is_adapted(layer: Any) -> bool:
    """A layer of PEFT with a weight of its own."""
    wanted = ("merge", "unmerge", "merged", "get_base_layer")
    return all(hasattr(layer, name) for name in wanted) and hasattr(layer.get_base_layer(), "weight")
