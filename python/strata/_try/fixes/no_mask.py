"""no_mask: scaled_dot_product_attention does not get a mask that masks nothing."""
from __future__ import annotations

import functools
import sys
from typing import Any

from strata._try.fixes.base import Fix, Note, alone

LOOKED_AT = 16  # masks of a shape that have to be open before no further one is checked


class NoMask(Fix):
    name = "no_mask"
    switches = True
    unseen = "no call of scaled_dot_product_attention has a mask that masks nothing"
    changes = (
        "scaled_dot_product_attention gets no mask where it masks nothing: the first masks of each shape "
        "are checked; if all of them are open, later ones of that shape are taken to be."
    )
    safe = "Where no sequence is padded, and no mask of the same shape means something."
    results = "Rounding."

    def read(self, arguments: list[str]) -> None:
        super().read(arguments)
        self.open: dict[tuple, int] = {}  # open masks in a row, by shape; below 0 where one was not
        self._plain: Any = None
        self._noted = False

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "slow_attention" and "Pass no mask" in str(finding.get("fix"))
        return [(cls.name, alone(finding))] if fits else []

    def switch(self, on: bool) -> None:
        super().switch(on)
        functional = sys.modules["torch"].nn.functional
        if self._plain is not None:
            functional.scaled_dot_product_attention, self._plain = self._plain, None
        if on:
            self._plain = functional.scaled_dot_product_attention
            functional.scaled_dot_product_attention = self._without(self._plain)

    def on_first_unit(self) -> None:
        self.switch(self.is_on)

    def _without(self, plain: Any) -> Any:
        fix = self

        @functools.wraps(plain)
        def attend(query: Any, key: Any, value: Any, attn_mask: Any = None, *args: Any, **kwargs: Any) -> Any:
            if attn_mask is not None and fix.masks_nothing(attn_mask):
                attn_mask = None
                if not fix._noted:
                    from strata._try.inside import places
                    fix._noted = True
                    fix.note(fix, "site", source=places.here(), by=places.library())
            return plain(query, key, value, attn_mask, *args, **kwargs)

        return attend

    def masks_nothing(self, mask: Any) -> bool:
        torch = sys.modules["torch"]
        kind = tuple(mask.shape), mask.dtype
        seen = self.open.get(kind, 0)
        if seen < 0 or seen >= LOOKED_AT:
            return seen > 0
        if torch.compiler.is_compiling() or (mask.is_cuda and torch.cuda.is_current_stream_capturing()):
            return False  # it cannot be checked
        is_open = bool(mask.all()) if mask.dtype == torch.bool else not bool(mask.any())
        self.open[kind] = seen + 1 if is_open else -1
        return is_open

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        if str(seen.get("by", "")).startswith(("transformers.", "diffusers.")):
            return [Note(["no attention_mask= where nothing is padded"])]
        return [Note(["attn_mask=None where nothing is masked"])]
