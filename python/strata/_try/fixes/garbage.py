"""gc:freeze|off: Python's garbage collector leaves the loop alone."""
from __future__ import annotations

import gc
from typing import Any

from strata._try.fixes.base import Fix, FixError, Note, Unfit, alone

_collect = gc.collect


class Garbage(Fix):
    name = "gc"
    switches = True
    block = 16
    takes = "freeze|off"
    changes = ("freeze: what is alive after the first units is not examined again. off: no collections, "
               "and gc.collect() does nothing.")
    safe = "freeze always; off if the program makes no cycles of objects that hold much memory."
    results = "Nothing."

    def read(self, arguments: list[str]) -> None:
        if len(arguments) != 1 or arguments[0] not in ("freeze", "off"):
            raise FixError("gc takes one of freeze, off")
        self.how = arguments[0]
        self.own = True
        self.was_on = False
        self.frozen = 0

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        if finding.get("rule") != "gc_pause":
            return []
        asked = "gc.collect" in str(finding.get("title", ""))
        return [("gc:off" if asked else "gc:freeze", alone(finding))]

    def at_start(self) -> None:
        self.frozen = gc.get_freeze_count()  # by Python itself: 3.12 does that
        if self.how == "off":
            from strata._try.inside import places
            noted: list[bool] = []

            def collect(generation: int = 2) -> int:
                if not self.is_on:
                    return _collect(generation)
                if not noted:
                    noted.append(True)
                    self.note(self, "site", source=places.here())
                return 0

            gc.collect = collect
            if self.is_on:
                gc.disable()

    def on_first_unit(self) -> None:
        self.own = gc.isenabled()
        if self.how == "off" and self.is_on:
            gc.disable()

    def _check_frozen(self) -> None:
        """Objects that the program has frozen would not be so any more while the fix is off."""
        if not self.was_on and gc.get_freeze_count() > self.frozen:
            raise Unfit("the program calls gc.freeze() itself")
        self.was_on = True

    def when_warm(self) -> None:
        if self.is_on and self.how == "freeze":
            self.switch(True)

    def switch(self, on: bool) -> None:
        """Garbage and how much there is to look at are what they would be without the fix before."""
        super().switch(on)
        if self.how == "freeze":
            self._check_frozen()
            (gc.collect if on else gc.unfreeze)()
            (gc.freeze if on else gc.collect)()
        elif on:
            gc.disable()
        else:
            _collect()
            if self.own:
                gc.enable()

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        if self.how == "off":
            return [Note(["gc.disable()  # before the loop, and no gc.collect() in it"])]
        return [Note(["gc.collect()", "gc.freeze()  # before the loop"])]
