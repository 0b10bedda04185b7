"""Batches of a DataLoader that are made in one of two ways, whichever is on: as the program makes them,
or as a fix does.

Each way is a DataLoader of its own over the same dataset. Both go through the samples that the program's
loader would take, one after the other: a batch is delivered once, and their order stays."""
from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from strata._try.inside.random_state import RandomState

# What a loader has that another one over the same dataset is made with; some are newer than torch 2.0.
SETTINGS = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn",
            "multiprocessing_context", "generator", "prefetch_factor", "persistent_workers",
            "pin_memory_device", "in_order")


class Samples:
    """What the program's sampler chooses. That of batches which were requested, but not delivered,
    is kept: the next iteration begins with them."""

    def __init__(self, chosen: Iterable[Any]) -> None:
        self.chosen = iter(chosen)
        self.kept: deque[Any] = deque()
        self.delivered = 0

    def __iter__(self) -> Iterator[Any]:
        at = self.delivered
        while True:
            if at == self.delivered + len(self.kept):
                try:
                    self.kept.append(next(self.chosen))
                except StopIteration:
                    return
            yield self.kept[at - self.delivered]
            at += 1

    def deliver(self) -> None:
        self.kept.popleft()
        self.delivered += 1


class Way:
    """One of the two; it is the sampler of its own loader."""

    def __init__(self, made: Any, loader_class: Any, plain: Callable, changed: dict[str, Any]) -> None:
        self.plain = plain  # how a pass begins: DataLoader.__iter__
        self.samples: Iterable[Any] = ()
        settings = {name: getattr(made, name) for name in SETTINGS if hasattr(made, name)}
        if made.batch_sampler is not None:
            settings["batch_sampler"] = self
        else:
            settings.update(sampler=self, batch_size=None)
        self.loader = loader_class(made.dataset, **{**settings, **changed})
        self.has_begun = False

    def __iter__(self) -> Iterator[Any]:
        return iter(self.samples)

    def begin(self, samples: Samples) -> Any:
        self.samples, self.has_begun = samples, True
        return self.plain(self.loader)

    def end(self) -> None:
        """Waits for workers that are kept: none of them works on while it is the other's turn."""
        if self.has_begun and self.loader.persistent_workers:
            self.samples = ()
            with contextlib.suppress(Exception):  # of workers that are gone
                self.plain(self.loader)


class Batches:
    """One pass through a loader: ways[False] is the program's own, ways[True] that of the fix. A
    change takes its time when the next batch is requested. `failed` is called when the fix cannot
    make one; it is off from then on."""

    def __init__(self, made: Any, ways: tuple[Way, Way], is_on: Callable[[], bool],
                 failed: Callable[[Exception], None]) -> None:
        self.made, self.ways, self.is_on, self.failed = made, ways, is_on, failed
        self.samples = Samples(made._index_sampler)
        self.on = False
        self.now: Any = None if is_on() else ways[False].begin(self.samples)

    def __iter__(self) -> Batches:
        return self

    def __len__(self) -> int:
        return len(self.made)

    def __next__(self) -> Any:
        if self.is_on():
            try:
                return self._next(True)
            except StopIteration:
                raise
            except Exception as why:
                self.failed(why)
        return self._next(False)

    def _next(self, on: bool) -> Any:
        if self.on != on or self.now is None:
            self._change(on)
        batch = next(self.now)
        self.samples.deliver()
        return batch

    def _change(self, on: bool) -> None:
        """Random numbers go on as if it had not been made."""
        before = RandomState((self.made.generator,), {})
        self.now = None  # workers that are not kept end
        self.ways[self.on].end()
        self.on = on
        self.now = self.ways[on].begin(self.samples)
        before.restore()
