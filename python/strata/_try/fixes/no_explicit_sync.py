"""no_explicit_sync: the program does not wait for the device where it only asks it to."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import Fix, Note, alone


class NoExplicitSync(Fix):
    name = "no_explicit_sync"
    switches = True
    unseen = "the program does not call torch.cuda.synchronize()"
    changes = "torch.cuda.synchronize() and Stream.synchronize() return at once."
    safe = ("Unless these calls wait for a copy to the host: the program would read memory before it is "
            "written. Times that the program measures itself become meaningless.")
    results = "Wrong values if the program waited for a copy to the host that way."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        words = f"{finding.get('title', '')} {finding.get('fix', '')}".lower()
        is_it = finding.get("rule") == "sync_in_loop" and "synchronize" in words
        return [(cls.name, alone(finding))] if is_it else []

    def on_torch(self, torch: Any) -> None:
        from strata._try.inside import device
        device.keep("cuda.synchronize", torch.cuda.synchronize)
        for owner in (torch.cuda, torch.cuda.Stream):
            owner.synchronize = self._instead_of(owner.synchronize)

    def _instead_of(self, plain: Callable) -> Callable:
        @functools.wraps(plain)
        def synchronize(*args: Any, **kwargs: Any) -> None:
            if not self.is_on:
                return plain(*args, **kwargs)
            if not getattr(self, "_noted", False):
                from strata._try.inside import places
                self._noted = True
                self.note(self, "site", source=places.here())
            return None

        return synchronize

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["remove torch.cuda.synchronize()"], remove=True)]
