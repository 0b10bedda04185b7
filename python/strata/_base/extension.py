"""Finds out whether to record, and loads the extension. When it is missing, broken or of another
version the package turns itself off: the program must run as if strata were not there."""
from __future__ import annotations

import importlib.util
import os
import struct
import sys
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
        raise ImportError("it was cut short")


def extension() -> Any:
    """The extension, checked; ImportError when it cannot be used."""
    spec = importlib.util.find_spec("strata._strata")
    if spec is None or not spec.origin:
        raise ImportError("it is not installed")
    _check_whole(spec.origin)
    from strata import _strata
    found = getattr(_strata, "INTERFACE", 0)
    if found != INTERFACE:
        raise ImportError(f"_strata has interface {found}, expected {INTERFACE}")
    return _strata


def _load() -> bool:
    global core
    if not settings.flag("STRATA", True):
        return False
    try:
        core = extension()
    except Exception as why:
        settings.say(f"off: its extension cannot be loaded ({why})")
        return False
    return True


enabled: bool = _load()


def pipeline_name() -> str:
    """What is run: the module or script, without its ending."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != "__main__":
        return spec.name.removesuffix(".__main__")
    script = getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else "")
    stem = os.path.splitext(os.path.basename(script))[0]
    return stem if stem and stem != "-c" else "python"


def _share_with_children() -> None:
    """Processes started from here join this run: they inherit a key, and agree on a folder by it
    when the first of them has something to write."""
    if os.environ.get("STRATA_RUN"):
        return
    key = core.launch_key() or f"process {os.getpid()} {os.stat(f'/proc/{os.getpid()}').st_ctime_ns}"
    os.environ.setdefault("STRATA_LAUNCH", key)
    os.environ.setdefault("STRATA_PIPELINE", pipeline_name())
    out = os.environ.get("STRATA_OUT") or "strata_out"
    os.environ["STRATA_OUT"] = os.path.abspath(out)


def give_up(why: BaseException) -> None:
    """Turns everything off, and says so."""
    core.stop()
    core.set_hooks(None, None, None)
    settings.say(f"off: {type(why).__name__}: {why}")


def begin() -> None:
    """Starts recording; nothing is written before the first stage."""
    from strata._base import on_import
    from strata._record import hooks, stage
    from strata._report import timing
    from strata._timeline import torch_fallback
    _share_with_children()
    env = os.environ.get
    core.start(env("STRATA_RUN") or None, env("STRATA_OUT") or None, env("STRATA_PIPELINE") or None,
               settings.flag("STRATA_RINGS", True), False)
    core.set_process_name(env("STRATA_PIPELINE") or pipeline_name())
    core.connect(hooks.probe, stage.decorate, stage.current_task)
    hooks.begin()
    on_import.begin()
    timing.begin()
    torch_fallback.begin()
