"""no_empty_cache: torch.cuda.empty_cache() does nothing."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Fix, Note, alone


class NoEmptyCache(Fix):
    name = "no_empty_cache"
    switches = True
    settles = 1
    unseen = "the program does not call torch.cuda.empty_cache()"
    changes = "torch.cuda.empty_cache() does nothing, so memory is not requested again."
    safe = "If other processes on the GPU do not need the memory."
    results = "Nothing."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [(cls.name, alone(finding))] if finding.get("rule") == "allocation_in_loop" else []

    def on_torch(self, torch: Any) -> None:
        plain = torch.cuda.empty_cache

        def empty_cache() -> None:
            if not self.is_on:
                return plain()
            if not getattr(self, "_noted", False):
                from strata._try.inside import places
                self._noted = True
                self.note(self, "site", source=places.here())
            return None

        torch.cuda.empty_cache = torch.cuda.memory.empty_cache = empty_cache
        accelerator: Any = getattr(torch, "accelerator", None)
        if hasattr(accelerator, "empty_cache"):
            accelerator.empty_cache = empty_cache

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["remove torch.cuda.empty_cache()"], remove=True)]
