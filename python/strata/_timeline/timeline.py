"""strata.timeline: records from inside what `strata run --level timeline` records from outside.

    with strata.timeline() as part:     # or @strata.timeline()
        pipe(prompt)
    print(part.report())                # or: strata report FOLDER --part 1, later

Kernels, copies, waits with their Python lines and samples of Python functions in this part: for
notebooks, servers and programs that are started by others. Between two parts nothing is recorded, and
the vendor's device library is switched off."""
from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from strata._base import PACKAGE, run_files, settings
from strata._base.command import read
from strata._base.extension import core
from strata._timeline import derived_ranges, torch_fallback

FETCHED_S = 0.25  # what a device has done is fetched by then

_lock = threading.Lock()
_library: Any = None  # of this process, once it has begun
_open = 0  # parts, inside one another or on several threads
_number = 0  # of the one that was begun last


def _kind() -> bytes:
    """What there is to record: the GPU where torch uses CUDA or there is no torch, else Python."""
    torch = sys.modules.get("torch")
    version = getattr(torch, "version", None)
    return b"cuda" if version is None or getattr(version, "cuda", None) else b"none"


@contextlib.contextmanager
def _variables(**wanted: str) -> Iterator[None]:
    """The library reads its settings from the environment."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _wanted(ops: str | None, depth: int | None) -> dict[str, str]:
    """What a part asks of the library, as variables; what it does not ask for stays as it is."""
    return {"STRATA_OPS": _level(ops), **({} if depth is None else {"STRATA_DEPTH": str(max(int(depth), 0))})}


def _load(ops: str | None, depth: int | None) -> Any:
    folder = run_files.folder()
    if folder is None:
        raise OSError("there is no folder to record to")
    here = os.path.join(PACKAGE, torch_fallback.LIBRARY)
    with _variables(STRATA_RUN=folder, **_wanted(ops, depth)):
        if ctypes.PyDLL(here).strata_inject_start(_kind()) < 0:  # with the GIL, for its self-test
            settings.say("this timeline has no GPU work; run strata doctor to see why")
    return ctypes.CDLL(here)


def _known(ops: str | None) -> str | None:
    if ops in (None, "off", "user", "all", "shapes"):
        return ops
    settings.say(f"timeline(ops={ops!r}): ops is off, user, all or shapes; using the default")
    return None


def _level(ops: str | None) -> str:
    """Where no device is recorded, operators are what there is to see."""
    return ops or ("user" if _kind() == b"cuda" else "all")


def _begin(ops: str | None, depth: int | None) -> int:
    """The number of the part that is recorded; 0 for the whole program."""
    global _library, _open, _number
    with _lock:
        _open += 1
        if torch_fallback.wanted():
            if _open == 1:
                torch_fallback.hold(True)
            return 0
        if _open > 1:
            return _number
        if _library is None:
            _library = _load(ops, depth)
        else:
            with _variables(**_wanted(ops, depth)):
                _library.strata_inject_pause(0)
        _number += 1
        core.instant("strata.timeline begins")
        _library.strata_inject_watch()
        derived_ranges.start()
        return _number


def _end() -> None:
    global _open
    with _lock:
        _open -= 1
        if _open == 0 and torch_fallback.wanted():
            torch_fallback.hold(False)
        if _open == 0 and _library is not None and not torch_fallback.wanted():
            derived_ranges.stop()
            core.instant("strata.timeline ends")
            _library.strata_inject_pause(1)


class timeline(contextlib.ContextDecorator):
    """A part of the program whose timeline is recorded. `ops` selects torch's operators: "off", "user"
    ranges, "all" or "shapes" (all with the shapes of their inputs); by default "user" with a GPU and
    "all" without. `depth` is how many units (calls of the outermost module or stage) are recorded in
    depth, with every operator, shape and line: one of each kind and two in a row by default. A part
    inside another one belongs to that. Under `strata run --level timeline` everything is recorded anyway."""

    def __init__(self, ops: str | None = None, depth: int | None = None) -> None:
        self.ops = _known(ops)
        self.depth = depth
        self.number = 0

    def __enter__(self) -> timeline:
        try:
            self.number = _begin(self.ops, self.depth)
        except Exception as why:
            settings.say(f"no timeline: {why}")
        return self

    def __exit__(self, *why: Any) -> None:
        try:
            _end()
        except Exception as trouble:
            settings.say(f"timeline: {trouble}")

    @property
    def folder(self) -> str | None:
        """Where it is recorded: the folder of the run."""
        return run_files.folder()

    def report(self, *options: str) -> str:
        """The output of `strata report` for this part; `--whole` for all of them."""
        time.sleep(FETCHED_S)
        if self.number and "--whole" not in options:
            options = ("--part", str(self.number), *options)
        return read(self.folder, *options) if self.folder else ""


def _forget() -> None:
    """In a forked child: the library has let go of everything by itself."""
    global _open, _number, _library, _lock
    _lock = threading.Lock()
    _open, _number, _library = 0, 0, None


os.register_at_fork(after_in_child=_forget)
