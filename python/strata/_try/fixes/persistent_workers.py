"""persistent_workers: workers of DataLoaders stay from one epoch to the next."""
from __future__ import annotations

import functools
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes.base import Fix, Note, alone


class PersistentWorkers(Fix):
    name = "persistent_workers"
    changes = "DataLoaders that have workers are made with persistent_workers=True."
    safe = "If the dataset does not change between epochs in the process of the program: workers have a copy."
    results = (
        "Random transformations draw other numbers from the second epoch on; the order of samples stays."
    )
    order = 3
    unseen = "the program makes no DataLoader whose workers end with each epoch"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = "persistent_workers=True" in str(finding.get("fix")) and "num_workers (" not in str(
            finding.get("fix"))
        return [(cls.name, alone(finding))] if fits else []

    def at_start(self) -> None:
        when_imported("torch.utils.data.dataloader", self._dataloader)

    def _dataloader(self, module: Any) -> None:
        plain, fix = module.DataLoader.__init__, self

        @functools.wraps(plain)
        def init(made: Any, *args: Any, **kwargs: Any) -> None:
            workers = args[5] if len(args) > 5 else kwargs.get("num_workers", 0)
            if fix.is_on and workers and not kwargs.get("persistent_workers"):
                from strata._try.inside import places
                kwargs["persistent_workers"] = True
                fix.note(fix, "site", call="DataLoader", source=places.here(), by=places.library())
            plain(made, *args, **kwargs)

        module.DataLoader.__init__ = init

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        if str(seen.get("by", "")).startswith("transformers."):
            return [Note(["TrainingArguments(..., dataloader_persistent_workers=True)"])]
        return [Note(["DataLoader(..., persistent_workers=True)"],
                     call={"set": {"persistent_workers": "True"}})]
