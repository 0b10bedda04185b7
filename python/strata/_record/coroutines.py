"""Stages that are suspended and resumed: coroutines, generators and asynchronous generators.

The extension's Task counts their turns. A coroutine lasts from its first turn to its end, of which
it was active only in its turns. A generator is timed while it produces items, an asynchronous one
with what it awaits meanwhile; the time between two items is its user's. A generator that is closed
before its end has done what was asked of it."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from strata._base.extension import core
from strata._record import io_signature, saved_inputs


class _Driver:
    """Stands between a generator-like object and the caller that resumes it."""

    def __init__(self, inner: Any, task: Any, pause: Callable[[], None], ends: bool = True) -> None:
        self.inner = inner
        self.task = task
        self.pause = pause  # the task's rest if what it yields are items, else its suspend
        self.ends = ends  # the task ends with it; otherwise it is one item of a longer one

    def __iter__(self) -> _Driver:
        return self

    __await__ = __iter__

    def __next__(self) -> Any:
        return self._turn(self.inner.send, None)

    def send(self, value: Any) -> Any:
        return self._turn(self.inner.send, value)

    def throw(self, *error: Any) -> Any:
        return self._turn(self.inner.throw, *error)

    def close(self) -> None:
        self.task.resume()
        try:
            self.inner.close()
        except BaseException as error:
            self.task.finish(type(error))
            raise
        self.task.finish(None)

    def _turn(self, action: Callable, *args: Any) -> Any:
        self.task.resume()
        try:
            result = action(*args)
        except (StopIteration, StopAsyncIteration, GeneratorExit):
            self._end(None)
            raise
        except BaseException as error:
            self._end(type(error))
            raise
        self.pause()
        return result

    def _end(self, error: type[BaseException] | None) -> None:
        if self.ends or error is not None:
            self.task.finish(error)
        else:
            self.task.rest()


def wrap_coroutine(stage: Any, fn: Callable) -> Callable:
    """An async function as a stage."""
    recorder = io_signature.Recorder(fn)

    @functools.wraps(fn)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        call = recorder.before(args, kwargs)
        if saved_inputs.wanted:
            saved_inputs.save(stage.name, recorder, args, kwargs)
        task = core.Task(stage)
        result = await _Driver(fn(*args, **kwargs), task, task.suspend)
        if call is not None:
            call.node = task.node
            call.after(result)
        return result

    return wrapper


def wrap_generator(stage: Any, fn: Callable) -> Callable:
    """A generator function as a stage."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        task = core.Task(stage)
        return (yield from _Driver(fn(*args, **kwargs), task, task.rest))

    return wrapper


def wrap_async_generator(stage: Any, fn: Callable) -> Callable:
    """An asynchronous generator function as a stage."""

    @functools.wraps(fn)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        task = core.Task(stage)
        inner = fn(*args, **kwargs)
        step = inner.__anext__()
        while True:
            try:
                item = await _Driver(step, task, task.suspend, ends=False)
            except StopAsyncIteration:
                task.finish(None)
                return
            try:
                sent = yield item
            except GeneratorExit:
                await inner.aclose()
                task.finish(None)
                raise
            except BaseException as error:
                step = inner.athrow(error)
            else:
                step = inner.asend(sent)

    return wrapper
