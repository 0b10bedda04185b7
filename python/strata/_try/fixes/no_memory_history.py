"""no_memory_history: torch does not write down the stack of every allocation."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Fix, Note


class NoMemoryHistory(Fix):
    name = "no_memory_history"
    switches = True
    unseen = "the program does not record the history of its memory"
    changes = "torch.cuda.memory._record_memory_history() does nothing."
    safe = "Unless the program writes a snapshot of its memory: it has no stacks then."
    results = "Nothing."

    def on_torch(self, torch: Any) -> None:
        self.plain = torch.cuda.memory._record_memory_history
        self.own: tuple[tuple, dict[str, Any]] | None = None  # what the program wants

        def _record_memory_history(*args: Any, **kwargs: Any) -> None:
            wanted = (args[0] if args else kwargs.get("enabled", "all")) not in (None, False)
            self.own = (args, kwargs) if wanted else None
            if wanted and not getattr(self, "_noted", False):
                from strata._try.inside import places
                self._noted = True
                self.note(self, "site", source=places.here())
            if not (wanted and self.is_on):
                self.plain(*args, **kwargs)

        torch.cuda.memory._record_memory_history = _record_memory_history

    def switch(self, on: bool) -> None:
        super().switch(on)
        if self.own is None:
            return
        if on:
            self.plain(enabled=None)
        else:
            self.plain(*self.own[0], **self.own[1])

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["remove torch.cuda.memory._record_memory_history()"], remove=True)]
