"""What is set in the process goes into a timeline: a report then knows which settings are on that
leave little to see, and which are off although something looks like them.

Settings are read when a part of the recording ends and when the program does, in the third
backward pass and as the third unit begins, because some are on around the step only. What was said
before is not said again."""
from __future__ import annotations

import atexit
import ctypes
import os
from typing import Any

from strata._base import PACKAGE, process_settings

LIBRARY = "libstrata_inject.so"
MOST_TEXT = 300  # characters of a value
LOOK_AT = 3      # the backward pass: the first ones may be another phase of the program

_passes = 0
_at_exit = False


def _library() -> Any:
    """The library of the timeline, where it is loaded; else None."""
    path = os.environ.get("STRATA_INJECT") or os.path.join(PACKAGE, LIBRARY)
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        library.strata_inject_setting.argtypes = [ctypes.c_char_p]
        library.strata_inject_setting.restype = None
        return library
    except (OSError, AttributeError):
        return None


def tell() -> None:
    """Whatever goes wrong here is dropped; the program goes on."""
    try:
        library = _library()
        if library is not None:
            for name, value in process_settings.read().items():
                library.strata_inject_setting(f"setting.{name}={value[:MOST_TEXT]}".encode())
    except Exception:
        pass


def begin() -> None:
    """From now on: called again without harm."""
    global _at_exit
    if not _at_exit:
        _at_exit = True
        atexit.register(tell)


def backward() -> bool:
    """Before every backward pass. False: it is to be recorded as always."""
    global _passes
    _passes += 1
    if _passes == LOOK_AT:
        tell()
    return False
