"""The files of a run before its end. A server is ended by a signal, and a program may be killed at any
time: what the recordings do not hold (signatures, environment, memory, device times) is written while
it runs, when there is something new, and every STRATA_TEST_CHECKPOINT seconds (5; 0 for never).

Nothing runs in the background: the end of a stage is where it happens. It may take 1 % of the
time, and a tenth of a second of work besides, for what is new at the start: work is what this thread
computes, so that a busy machine does not use it up."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from strata._base import settings
from strata._base.extension import core
from strata._record import hooks, io_signature

EVERY_S = settings.number("STRATA_TEST_CHECKPOINT", 5, 0)
FREE_S = 0.1
SHARE = 0.01

_write: Callable[[], Any] | None = None
_lock = threading.Lock()
_began = time.perf_counter()
_spent = 0.0


def begin(write: Callable[[], Any]) -> None:
    """Called once, when recording starts; `write` writes the files."""
    global _write
    if EVERY_S:
        _write = write
        core.set_checkpoint(_due, True)
        core.checkpoint_in(EVERY_S)
        io_signature.listen(_new_signature)


def forked() -> None:
    """In a child, which lives shortly as a rule: not before its time."""
    global _lock, _began, _spent
    _lock = threading.Lock()
    _began, _spent = time.perf_counter(), 0.0
    if EVERY_S:
        core.set_checkpoint(_due, False)
        core.checkpoint_in(EVERY_S)


def _new_signature() -> None:
    """Inside another stage it is written when that ends."""
    if core.current() == 0:
        _due()


def _due() -> None:
    """At the end of a stage."""
    global _spent
    began, worked = time.perf_counter(), time.thread_time()
    if _write is None or _spent > FREE_S + SHARE * (began - _began):
        core.checkpoint_in(EVERY_S)
        return
    device = hooks.accelerator()
    if (device is not None and device.capturing()) or not _lock.acquire(blocking=False):
        return
    try:
        _write()
    except Exception as why:
        settings.say(f"no files before the end: {why!r}")
    finally:
        took = time.perf_counter() - began
        _spent += time.thread_time() - worked
        core.checkpoint_in(max(EVERY_S, took / SHARE))
        _lock.release()
