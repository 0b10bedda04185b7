"""Stages as decorators. The wrappers are plain functions of the same kind as what they wrap, so
that inspect, pickle, methods and torch.compile treat them alike."""
from __future__ import annotations

import contextvars
import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from strata._base import settings
from strata._base.extension import core
from strata._record import coroutines, io_signature, saved_inputs, stage_owners

stage = core.stage

# The innermost open stage of the running task, for code inside an event loop.
current_task: contextvars.ContextVar = contextvars.ContextVar("strata_task", default=None)


def is_compiling() -> bool:
    """Whether torch.compile is tracing through us: it must see the bare function."""
    compiler = sys.modules.get("torch.compiler")
    return compiler is not None and compiler.is_compiling()


def decorate(stage: Any, fn: Callable) -> Callable:
    """`fn` as a stage: what @strata.stage(...) returns."""
    if isinstance(fn, (staticmethod, classmethod)):
        return type(fn)(decorate(stage, fn.__func__))
    if inspect.isclass(fn) or not callable(fn):
        settings.say(f"strata.stage({stage.name!r}) marks functions and methods; {fn!r} is left as it is")
        return fn
    if inspect.isfunction(fn):
        stage_owners.note(stage.name, fn)
    if inspect.iscoroutinefunction(fn):
        return coroutines.wrap_coroutine(stage, fn)
    if inspect.isasyncgenfunction(fn):
        return coroutines.wrap_async_generator(stage, fn)
    if inspect.isgeneratorfunction(fn):
        return coroutines.wrap_generator(stage, fn)
    return wrap_function(stage, fn)


def wrap_function(stage: Any, fn: Callable, owner: Any = None) -> Callable:
    """A function as a stage, with the signatures of its arguments and results. `owner` is the
    object it works on, if the function itself does not say."""
    recorder = io_signature.Recorder(fn, owner)

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return fn(*args, **kwargs)
        call = recorder.before(args, kwargs)
        if saved_inputs.wanted:
            saved_inputs.save(stage.name, recorder, args, kwargs)
        with stage:
            if call is not None:
                call.node = core.current()
            result = fn(*args, **kwargs)
        if call is not None:
            call.after(result)
        return result

    return wrapper
