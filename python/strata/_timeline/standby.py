"""A program that waits to be recorded: `strata run --level standby`, and Python programs that
`strata record PID` has entered.

The library listens on a socket in the run's folder, on a thread of its own (src/backend/parts.c).
Nothing else happens until a recording is requested: then this module adds what only Python can,
ranges that are not in the code and the self-test of frames, which needs the GIL."""
from __future__ import annotations

import atexit
import ctypes
import os
import sys
from typing import Any

from strata._base import PACKAGE, on_import, settings
from strata._timeline import derived_ranges, other_profiler

LIBRARY = "libstrata_inject.so"

_kept: list[Any] = []  # the library, with and without the GIL, and what it calls


def wanted() -> bool:
    """Whether this program runs under `strata run --level standby`."""
    return os.environ.get("STRATA_LEVEL") == "standby"


def _switched(on: int) -> None:
    """On the library's thread, with the GIL."""
    try:
        if on:
            _kept[0].strata_inject_check()
            derived_ranges.start()
            _watch_main_thread()
        else:
            derived_ranges.stop()
    except Exception as why:
        settings.say(f"recording from outside: {why!r}")


def _watch_main_thread() -> None:
    """Its functions are of interest even if it never launches anything."""
    ctypes.pythonapi.Py_AddPendingCall(_kept[0].strata_inject_watch_soon, None)


def _let_go() -> None:
    """Before the interpreter ends: no call into it is allowed after that."""
    if _kept:
        _kept[1].strata_inject_on_switch(None)


def begin() -> None:
    """Waits from here on."""
    if _kept:
        return
    path = os.path.join(PACKAGE, LIBRARY)
    with_gil, without = ctypes.PyDLL(path), ctypes.CDLL(path)
    told = ctypes.CFUNCTYPE(None, ctypes.c_int)(_switched)
    _kept.extend((with_gil, without, told))
    with_gil.strata_inject_check()
    without.strata_inject_on_switch(told)
    without.strata_inject_wait()
    atexit.register(_let_go)
    on_import.when_imported("torch", _watch_profiler)


def _watch_profiler(torch: Any) -> None:
    tell = _kept[1].strata_inject_other
    other_profiler.watch(torch.autograd.profiler.profile, tell)
    on_import.when_imported(other_profiler.MONITOR,
                            lambda module: other_profiler.watch_monitor(module, tell))


def enter() -> None:
    """`strata record PID` has come in: this program waits in that folder, for which the variables are
    set already."""
    begin()
    _kept[1].strata_inject_entered()
    torch = sys.modules.get("torch")
    if getattr(getattr(torch, "version", None), "cuda", None):
        _kept[1].strata_inject_device(b"cuda")


def _forget() -> None:
    """In a forked child: it is not recorded until its own driver comes up."""
    _kept.clear()


os.register_at_fork(after_in_child=_forget)
