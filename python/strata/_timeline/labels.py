"""Stages as labels in the traces that torch.profiler takes for us: while one is taken, every stage is a
record_function as well, so that the trace shows which work is whose."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

_taken = 0  # traces that are being taken
_listener: Callable[[], None] | None = None
_record_function: Any = None  # torch's, once it is needed


def listen(action: Callable[[], None]) -> None:
    """Calls `action` when labels begin to be wanted: _record/hooks.py makes them."""
    global _listener
    _listener = action


def wanted() -> bool:
    """Whether a trace is being taken."""
    return _taken > 0


def begin() -> None:
    """A profiler is about to start."""
    global _taken, _record_function
    from torch.autograd.profiler import record_function
    _record_function = record_function
    _taken += 1
    if _listener is not None:
        _listener()


def end() -> None:
    """It stops."""
    global _taken
    _taken = max(_taken - 1, 0)


def enter(name: str) -> Any:
    """A stage begins; what `exit` needs."""
    label = _record_function(name)
    label.__enter__()
    return label


def exit(label: Any) -> None:
    """The stage ends."""
    label.__exit__(None, None, None)
