"""no_tiling:MODULE: a codec of diffusers takes pictures whole, not tile by tile and one by one."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Already, Fix, Note, Unfit, module_argument

SWITCHES = ("use_tiling", "use_slicing")


class NoTiling(Fix):
    name = "no_tiling"
    takes = "MODULE"
    switches = True
    settles = 1
    changes = "The module (of diffusers: a VAE) decodes without tiles and slices."
    safe = "If memory suffices: the peak rises."
    results = "Pictures without the seams of tiles: they differ a little everywhere."

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        if arguments[1:]:
            super().read(arguments[1:])
        self.found: list[tuple[Any, str]] = []

    @property
    def slot(self) -> str:
        return f"{self.name}:{self.module}"

    def on_module(self, module: Any) -> None:
        able = [m for m in module.modules() if any(hasattr(m, name) for name in SWITCHES)]
        if not able:
            raise Unfit("the module knows no tiling")
        self.found = [(m, name) for m in able for name in SWITCHES if getattr(m, name, False)]
        if not self.found:
            raise Already("it uses no tiles")
        self.switch(self.is_on)

    def switch(self, on: bool) -> None:
        super().switch(on)
        for module, name in self.found:
            setattr(module, name, not on)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"{written}.disable_tiling()", f"{written}.disable_slicing()"], after=written)]
