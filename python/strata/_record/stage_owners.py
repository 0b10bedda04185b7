"""What stages were put on, by their names: where `strata bench` looks a stage up. Holds nothing
alive: a model that is dropped is forgotten."""
from __future__ import annotations

import weakref
from typing import Any

wanted = False  # also while strata is off: set by strata.bench before the program's code is loaded

_noted: dict[str, list[tuple[Any, str]]] = {}
MOST = 64  # objects under one name


def note(name: str, owner: Any, method: str = "") -> None:
    """A method of an object is a stage, or, with no method, the function `owner`."""
    kept = _noted.setdefault(name, [])
    try:
        if len(kept) < MOST:
            kept.append((weakref.ref(owner), method))
    except TypeError:  # an object that cannot be referred to weakly
        pass


def found(name: str) -> list[tuple[Any, str]]:
    """(object, method) or (function, "") of everything under the name that still exists, the
    latest first."""
    alive = [(ref(), method) for ref, method in _noted.get(name, [])]
    return [pair for pair in reversed(alive) if pair[0] is not None]


def names() -> list[str]:
    """Everything noted so far."""
    return list(_noted)
