"""Finds out whether to record, and loads the extension. When it is missing, broken or of another
version the package turns itself off: the program must run as if strata were not there."""
from __future__ import annotations

import importlib.util
import os
import struct
from typing import Any

from strata._base import settings
from strata._base.version import INTERFACE

core: Any = None  # the extension, or None while everything is off


def _check_whole(path: str) -> None:
    """A library that was cut short would take the process down with it when it is loaded. Its last
    part is the table of sections, and its head says where that ends."""
    with open(path, "rb") as f:
        head = f.read(64)
        size = os.fstat(f.fileno()).st_size
    if len(head) < 64 or head[:4] != b"\x7fELF":
        raise ImportError("it is not a library")
    (table,) = struct.unpack_from("<Q", head, 0x28)
    entry, entries = struct.unpack_from("<HH", head, 0x3A)
    if size < table + entry * entries:
        raise ImportError("the file is cut short")


def extension() -> Any:
    """The extension, checked; ImportError when it cannot be used."""
    spec = importlib.util.find_spec("strata._strata")
    if spec is None or not spec.origin:
        raise ImportError("it is not installed")
    _check_whole(spec.origin)
    found = importlib.import_module("strata._strata")
    interface = getattr(found, "INTERFACE", 0)
    if interface != INTERFACE:
        raise ImportError(f"_strata has interface {interface}, expected {INTERFACE}")
    return found


def _load() -> bool:
    global core
    if not settings.flag("STRATA", True):
        return False
    try:
        core = extension()
    except Exception as why:
        settings.say(f"off: cannot load its extension ({why})")
        return False
    return True


enabled: bool = _load()


def give_up(why: BaseException) -> None:
    """Turns everything off, and says so."""
    core.stop()
    core.set_hooks(None, None, None)
    settings.say(f"off: {type(why).__name__}: {why}")
