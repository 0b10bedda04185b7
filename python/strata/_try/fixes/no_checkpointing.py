"""no_checkpointing: results of the forward pass are kept instead of computed again."""
from __future__ import annotations

import functools
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes.base import Fix, Note, alone

OWN = ("use_reentrant", "context_fn", "determinism_check", "debug", "early_stop", "preserve_rng_state")


class NoCheckpointing(Fix):
    name = "no_checkpointing"
    switches = True
    settles = 1
    unseen = "the program does not call torch.utils.checkpoint.checkpoint"
    changes = "torch.utils.checkpoint.checkpoint calls its function and keeps what the backward pass needs."
    safe = "If memory suffices: the peak rises."
    results = "Nothing."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "repeated_work" and "checkpoint" in str(finding.get("fix"))
        return [(cls.name, alone(finding))] if fits else []

    def on_torch(self, torch: Any) -> None:
        when_imported("torch.utils.checkpoint", self._replace)

    def _replace(self, library: Any) -> None:
        plain = library.checkpoint

        @functools.wraps(plain)
        def checkpoint(function: Any, *args: Any, **kwargs: Any) -> Any:
            if not getattr(self, "_noted", False):
                from strata._try.inside import places
                self._noted = True
                self.note(self, "site", source=places.here())
            if not self.is_on:
                return plain(function, *args, **kwargs)
            return function(*args, **{k: v for k, v in kwargs.items() if k not in OWN})

        library.checkpoint = checkpoint

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["model.gradient_checkpointing_disable()  # or call the module, not checkpoint(...)"])]
