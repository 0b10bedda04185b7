"""loader:WORKERS: batches of DataLoaders are made in other processes, ahead of time."""
from __future__ import annotations

import atexit
import functools
import os
import weakref
from collections.abc import Callable
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes.base import Fix, FixError, Note, alone

USUAL = 8
PREFETCH = 4


def usual() -> int:
    """Workers where none are given: a few less than there are processors."""
    return max(1, min(USUAL, len(os.sched_getaffinity(0)) - 1))


class Loader(Fix):
    name = "loader"
    takes = "WORKERS"
    changes = (f"DataLoaders are made with that many workers, persistent_workers=True, "
               f"prefetch_factor={PREFETCH}, and pin_memory=True where there is a GPU.")
    safe = ("If the dataset can be copied to other processes. One that is iterable is left alone: each "
            "worker would yield all of it.")
    results = "Random transformations draw other numbers; the order of samples stays."
    order = 3
    switches = True
    set_up_s = 2.0
    unseen = "the program goes through no DataLoader that can have workers"

    def read(self, arguments: list[str]) -> None:
        if len(arguments) > 1 or (arguments and not arguments[0].isdigit()):
            raise FixError("loader takes a number of workers: loader:4")
        self.workers = int(arguments[0]) if arguments else usual()
        if not 1 <= self.workers <= 256:
            raise FixError("loader takes 1 to 256 workers")
        # Workers begin together, so batches come in bursts of as many.
        self.settles = max(self.workers, PREFETCH)
        # Where loaders were made that the program has not gone through yet.
        self.places: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [(f"loader:{usual()}", alone(finding))] if finding.get("rule") == "data_loader" else []

    def at_start(self) -> None:
        when_imported("torch.utils.data.dataloader", self._dataloader)

    def _dataloader(self, module: Any) -> None:
        self._change_loaders(module)
        (self._share if self.is_shared else self._watch)(module)
        loader = module.DataLoader
        iterator = loader._get_iterator

        @functools.wraps(iterator)
        def get_iterator(made: Any) -> Any:
            found = iterator(made)
            atexit.register(_end_workers, weakref.ref(found))
            return found

        loader._get_iterator = get_iterator

    def _change_loaders(self, module: Any) -> None:
        """As they are made; where others alternate they are left as they are."""
        plain, iterable, fix = module.DataLoader.__init__, module.IterableDataset, self

        @functools.wraps(plain)
        def init(made: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
            from strata._try.inside import places
            if isinstance(dataset, iterable):
                fix.note(fix, "skipped", source=places.here(),
                         why="its dataset is iterable, and each worker would yield all of it")
                return plain(made, dataset, *args, **kwargs)
            fix.places[made] = {"source": places.here(), "by": places.library()}
            if not fix.is_shared:
                args, kwargs = fix._changed(args, kwargs)
            return plain(made, dataset, *args, **kwargs)

        module.DataLoader.__init__ = init

    def _changed(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        if len(args) > 4:  # batch_size, shuffle, sampler, batch_sampler, num_workers
            args = (*args[:4], self.workers, *args[5:])
        else:
            kwargs["num_workers"] = self.workers
        kwargs.setdefault("prefetch_factor", PREFETCH)
        kwargs["persistent_workers"] = True
        if len(args) <= 6:
            kwargs["pin_memory"] = _has_device()
        return args, kwargs

    def _used(self, made: Any) -> None:
        """The program goes through this one with workers. The first such is the one to change."""
        if made in self.places:
            self.note(self, "site", call="DataLoader", **self.places.pop(made))

    def _watch(self, module: Any) -> None:
        plain, fix = module.DataLoader.__iter__, self

        @functools.wraps(plain)
        def begin(made: Any) -> Any:
            fix._used(made)
            return plain(made)

        module.DataLoader.__iter__ = begin

    def _share(self, module: Any) -> None:
        """Batches are made by workers while it is on, and as the program does while it is off."""
        from strata._try.inside.batches import Batches, Way
        loader, fix = module.DataLoader, self
        plain = loader.__iter__
        known: weakref.WeakKeyDictionary[Any, tuple[Way, Way]] = weakref.WeakKeyDictionary()

        @functools.wraps(plain)
        def begin(made: Any) -> Any:
            if made not in fix.places and made not in known:  # of an iterable dataset
                return plain(made)
            if type(made)._get_iterator is not loader._get_iterator:
                fix.note(fix, "skipped", why=f"{type(made).__name__} makes batches in its own way")
                return plain(made)
            if made not in known:
                changed = {"num_workers": fix.workers, "persistent_workers": True,
                           "prefetch_factor": made.prefetch_factor or PREFETCH,
                           "pin_memory": made.pin_memory or _has_device()}
                known[made] = Way(made, loader, plain, {}), Way(made, loader, plain, changed)
            return Batches(made, known[made], is_on(made), functools.partial(fix.failed, fix))

        def is_on(made: Any) -> Callable[[], bool]:
            def ask() -> bool:
                if fix.is_on:
                    fix._used(made)
                return fix.is_on

            return ask

        loader.__iter__ = begin

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        wanted = {"num_workers": str(self.workers), "persistent_workers": "True",
                  "prefetch_factor": str(PREFETCH)}
        if seen.get("device") != "cpu":
            wanted["pin_memory"] = "True"
        owner, prefix = "DataLoader", ""
        if seen.get("by", "").startswith("transformers."):
            owner, prefix = "TrainingArguments", "dataloader_"
        words = ", ".join(f"{prefix}{k}={v}" for k, v in wanted.items())
        return [Note([f"{owner}(..., {words})"], call={"set": wanted} if not prefix else None)]


def _end_workers(iterator: weakref.ref[Any]) -> None:
    """At the end of the program. torch before 2.13 waits five seconds for each worker that is kept, and a
    trial has no time for that."""
    end = getattr(iterator(), "_shutdown_workers", None)
    if end is not None:
        end()


def _has_device() -> bool:
    """Without waking one up: processes that are forked later could not use it."""
    import sys
    torch = sys.modules["torch"]
    return bool(torch.cuda.is_initialized() or torch.cuda.device_count())
