"""The whole interface while strata is off: decorators return what they are given, everything else
does nothing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strata._record import stage_owners


class _Off:
    """A stage, handle and context that does nothing."""

    __slots__ = ()
    name = ""

    def __enter__(self) -> _Off:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    async def __aenter__(self) -> _Off:
        return self

    async def __aexit__(self, *error: Any) -> None:
        return None

    def __call__(self, fn: Callable) -> Callable:
        return fn

    def __repr__(self) -> str:
        return "<strata is off: nothing marked>"

    def undo(self) -> None:
        """Nothing was done."""


_OFF = _Off()


def _plain_stage(name: str, *, sync: bool = False, save_inputs: bool = False) -> Any:
    """No stage: entering and leaving it does nothing, decorating returns the function itself."""
    return _OFF


def _undecorated(stage: Any, fn: Callable) -> Callable:
    """The function itself; `strata bench` finds it by the stage's name."""
    if stage_owners.wanted:
        stage_owners.note(stage.name, getattr(fn, "__func__", fn))
    return fn


def _quick_stage() -> Any:
    """The extension's stages are twice as quick at doing nothing, where there is one."""
    try:
        from contextvars import ContextVar

        from strata._base.extension import core, extension
        if core is not None:  # it was on, and something went wrong
            return _plain_stage
        found = extension()
        found.connect(None, _undecorated, ContextVar("strata_off"))
        return found.stage
    except Exception:
        return _plain_stage


stage = _quick_stage()


def annotate_pipeline(pipe: Any) -> Any:
    """Leaves the pipeline as it is."""
    if stage_owners.wanted:
        from strata._pipeline import parts
        _note(lambda: parts.of_pipeline(pipe))
    return _OFF


def watch(target: Any, *methods: str, name: str | None = None, submodules: Any = ()) -> Any:
    """Leaves the object as it is."""
    if stage_owners.wanted:
        from strata._pipeline import parts
        _note(lambda: parts.of_watched(target, methods, name, submodules))
    return _OFF


def _note(parts: Callable[[], Any]) -> None:
    try:
        for owner, method, label in parts():
            stage_owners.note(label, owner, method)
    except Exception:  # what cannot be marked
        pass


def instant(name: str) -> None:
    """Nothing."""


def counter(name: str, value: float) -> None:
    """Nothing."""


def step() -> None:
    """Nothing."""


def report(trace: Any = None, *, height: int = 720) -> Any:
    """No stages; traces are still read."""
    from strata._report.report import Report, of_trace
    return Report({"stages": {}}, height=height) if trace is None else of_trace(trace, height)


def signatures() -> dict[str, Any]:
    """No signatures."""
    return {"stages": {}}


def reset(request_id: str | None = None, metadata: dict[str, Any] | None = None) -> None:
    """Nothing."""


def set_metadata(**values: Any) -> None:
    """Nothing."""


def run_dir() -> None:
    """There is no folder."""


def write() -> None:
    """Nothing."""


def profile(*args: Any, **kwargs: Any) -> Any:
    """torch's own profiler: a program that asks for a trace gets one."""
    import torch
    kwargs.pop("report", None)
    return torch.profiler.profile(*args, **kwargs)


def no_snapshot(why: str = "") -> None:
    """Nothing is kept."""


class timeline(_Off):
    """Records nothing; a function stays as it is."""

    __slots__ = ()
    folder = None

    def __init__(self, ops: str | None = None, depth: int | None = None) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def report(self, *options: str) -> str:
        return ""


def schedule(**kwargs: int) -> Any:
    """torch.profiler.schedule."""
    import torch
    return torch.profiler.schedule(**kwargs)


# What strata.memory offers.


def current() -> dict[str, Any]:
    """Nothing is known."""
    return {"rss_bytes": 0, "devices": {}}


def baseline() -> dict[str, Any]:
    """Nothing."""
    return current()


def snapshot(name: str) -> dict[str, Any]:
    """Nothing."""
    return current()


def analysis() -> dict[str, Any]:
    """Nothing."""
    return {}


def table() -> str:
    """Nothing."""
    return ""
