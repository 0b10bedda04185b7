"""Marks other than stages: instants, values over time, steps of a loop."""
from __future__ import annotations

from strata._base.extension import core

_step = 0


def instant(name: str) -> None:
    """Something that happens now."""
    core.instant(name)


def counter(name: str, value: float) -> None:
    """A value from now on."""
    core.counter(name, value)


def step() -> None:
    """A step of the main loop begins here, and the one before ends."""
    global _step
    core.step(_step)
    _step += 1
