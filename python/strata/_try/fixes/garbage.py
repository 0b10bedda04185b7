"""gc:freeze|off: Python's garbage collector leaves the loop alone."""
from __future__ import annotations

import gc
from typing import Any

from strata._try.fixes.base import Fix, FixError, Note, alone


class Garbage(Fix):
    name = "gc"
    takes = "freeze|off"
    changes = ("freeze: what is alive after the first units is not looked at again. off: no collections, "
               "and gc.collect() does nothing.")
    safe = "freeze always; off if the program makes no cycles of objects that hold much memory."
    results = "nothing"

    def read(self, arguments: list[str]) -> None:
        if len(arguments) != 1 or arguments[0] not in ("freeze", "off"):
            raise FixError("gc takes one of freeze, off")
        self.how = arguments[0]

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        if finding.get("rule") != "gc_pause":
            return []
        asked = "gc.collect" in str(finding.get("title", ""))
        return [("gc:off" if asked else "gc:freeze", alone(finding))]

    def at_start(self) -> None:
        if self.how == "off":
            from strata._try.inside import places
            noted: list[bool] = []

            def collect(generation: int = 2) -> int:
                if not noted:
                    noted.append(True)
                    self.note(self, "site", source=places.here())
                return 0

            gc.collect = collect
            gc.disable()

    def on_first_unit(self) -> None:
        if self.how == "off":
            gc.disable()

    def when_warm(self) -> None:
        if self.how == "freeze":
            gc.collect()
            gc.freeze()

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        if self.how == "off":
            return [Note(["gc.disable()  # before the loop, and no gc.collect() in it"])]
        return [Note(["gc.collect()", "gc.freeze()  # before the loop"])]
