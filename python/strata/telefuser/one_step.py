"""One step of a stage that iterates: of 40 denoising steps, the first.

A stage with `dit` and `scheduler` is called as always, but its scheduler makes two steps only, and
the call ends when the first of them has been made. So any loop of a stage will do, whatever its models and
arguments are called.

Uses nothing but the standard library: the text of this file is part of every profile_{stage}.py."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

FEWEST_STEPS = 2


class StepMade(BaseException):
    """Ends the call; not an Exception, which loops may catch."""

    def __init__(self, result: Any) -> None:
        super().__init__("one step was made")
        self.result = result


def iterates(stage: Any) -> bool:
    """Whether a stage has a model and a scheduler that it steps through."""
    return getattr(stage, "dit", None) is not None and hasattr(getattr(stage, "scheduler", None), "step")


def first_step_of(stage: Any, fn: Callable) -> Callable:
    """`fn`, a method of the stage, ended after its first step: returns what the scheduler's step did."""
    scheduler = stage.scheduler

    def step(*args: Any, **kwargs: Any) -> Any:
        raise StepMade(type(scheduler).step(scheduler, *args, **kwargs))

    def set_timesteps(*args: Any, **kwargs: Any) -> Any:
        plain = type(scheduler).set_timesteps
        given = inspect.signature(plain).bind(scheduler, *args, **kwargs)
        steps = next((name for name in list(given.arguments)[1:2]), None)
        if steps is not None and isinstance(given.arguments[steps], int):
            given.arguments[steps] = min(given.arguments[steps], FEWEST_STEPS)
        return plain(*given.args, **given.kwargs)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        kept = dict(vars(scheduler))
        scheduler.step = step
        if hasattr(type(scheduler), "set_timesteps"):
            scheduler.set_timesteps = set_timesteps
        try:
            return fn(*args, **kwargs)
        except StepMade as made:
            return made.result
        finally:
            vars(scheduler).clear()
            vars(scheduler).update(kept)

    return call
