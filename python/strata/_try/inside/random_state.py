"""Random numbers and caches, put back where they were, for a call that is made again."""
from __future__ import annotations

import copy
import random
import sys
from typing import Any


def _generators(values: Any) -> list[Any]:
    torch = sys.modules["torch"]
    found = []
    for value in values:
        if isinstance(value, torch.Generator):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _generators(value)
    return found


class RandomState:
    """What all generators had when it was made, those among the arguments of a call included."""

    def __init__(self, args: tuple, kwargs: dict[str, Any]) -> None:
        torch: Any = sys.modules["torch"]
        numpy: Any = sys.modules.get("numpy")
        self.cuda = torch.cuda.is_initialized()
        self.python = random.getstate()
        self.numpy = numpy.random.get_state() if hasattr(numpy, "random") else None
        self.torch = torch.get_rng_state()
        self.devices = torch.cuda.get_rng_state_all() if self.cuda else None
        self.generators = [(g, g.get_state()) for g in _generators((*args, *kwargs.values()))]
        # Keys and values of a text so far, which the call goes on writing to.
        self.caches = {k: copy.deepcopy(v) for k, v in kwargs.items() if type(v).__name__.endswith("Cache")}

    def again(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments, with caches as they were."""
        return {**kwargs, **copy.deepcopy(self.caches)}

    def restore(self) -> None:
        torch = sys.modules["torch"]
        random.setstate(self.python)
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)
        torch.set_rng_state(self.torch)
        if self.devices is not None:
            torch.cuda.set_rng_state_all(self.devices)
        for generator, state in self.generators:
            generator.set_state(state)


def same_for_all() -> None:
    """Every trial begins with the same random numbers, whatever the program seeds itself."""
    from strata._base.on_import import when_imported
    random.seed(0)
    when_imported("torch", lambda torch: torch.manual_seed(0))
    when_imported("numpy.random", lambda module: module.seed(0))
