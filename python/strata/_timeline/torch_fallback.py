"""`strata run --level timeline` where CUPTI cannot record: on a CPU, an XPU, an Ascend NPU.

Operators and samples of Python code go to the recording by the library that CUDA programs get from
their driver. What a device does only torch.profiler knows there: it runs from the first call of a
module on, for STRATA_TEST_TIMELINE_SECONDS (5; its records take memory), and leaves torch_trace.json.gz.
On a CPU alone there is no device to ask about, and the recording is all there is; torch.profiler runs
there only where the library cannot be loaded.
"""
from __future__ import annotations

import atexit
import ctypes
import os
import time
from typing import Any

from strata._base import PACKAGE, run_files, settings
from strata._base.extension import core
from strata._timeline import selected_stages

LIBRARY = "libstrata_inject.so"
NVIDIA = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")

_profiler: Any = None
_hook: Any = None
_until = 0.0


def wanted() -> bool:
    """Whether this program runs under `strata run --level timeline`."""
    return os.environ.get("STRATA_LEVEL") == "timeline"


def _holds_the_door() -> bool:
    return os.environ.get("CUDA_INJECTION64_PATH", "").endswith(LIBRARY)


def knows(kind: str) -> bool:
    """Whether the timeline holds what devices of this kind did, and their memory."""
    return wanted() and kind == "cuda" and _holds_the_door()


def hold(begins: bool) -> None:
    """What runs from now on is recorded, also in a long run that is not recorded throughout; until it
    ends."""
    if rests():
        _of_timeline().strata_inject_hold(int(begins))


def rests() -> bool:
    """Whether the recorder of this program may rest."""
    return wanted() and os.environ.get("STRATA_REST") == "on"


def _of_timeline() -> Any:
    return ctypes.CDLL(os.path.join(PACKAGE, LIBRARY))


def _share_units() -> None:
    """The library rests when enough was seen of what the program repeats, which the extension sees."""
    try:
        _of_timeline().strata_inject_units(ctypes.c_void_p(core.units()))
    except (OSError, AttributeError):
        pass  # nothing rests then


def _driver_loads_us(torch: Any) -> bool:
    """CUDA is used and its driver will load our library by itself."""
    return bool(torch.version.cuda) and any(map(os.path.exists, NVIDIA)) and _holds_the_door()


def _record_operators() -> None:
    """Loads the library into this process: PyDLL, because its self-test wants the GIL."""
    os.environ.setdefault("STRATA_OPS", "all")
    library = ctypes.PyDLL(os.path.join(PACKAGE, LIBRARY))
    library.strata_inject_start(b"none")
    library.strata_inject_watch()  # also where this thread calls no operator for long, or ever


def _start() -> None:
    global _profiler, _until
    _profiler = selected_stages.start_profiler()
    _until = time.monotonic() + settings.number("STRATA_TEST_TIMELINE_SECONDS", 5, 1)
    atexit.register(_stop)


def _stop() -> None:
    global _profiler
    _forget()
    profiler, _profiler = _profiler, None
    if profiler is None:
        return
    try:
        selected_stages.stop_profiler(profiler)
        path = run_files.claim("torch_trace.json.gz")
        if path is not None:
            profiler.export_chrome_trace(path)
    except Exception as why:
        settings.say(f"torch.profiler cannot record a timeline: {why}")


def _forget() -> None:
    global _hook
    if _hook is not None:
        _hook.remove()
        _hook = None


def _forget_in_child() -> None:
    global _profiler
    _profiler = None
    _forget()


def _module_called(module: Any, args: Any) -> None:
    """Before every call of a module: starts at the first, stops when the time is over."""
    try:
        if _profiler is None:
            _start()
        elif time.monotonic() > _until:
            _stop()
    except Exception as why:
        _forget()
        settings.say(f"torch.profiler cannot record a timeline: {why}")


def _has_device(torch: Any) -> bool:
    """Another device than the CPU, known to this torch."""
    try:
        return torch.accelerator.is_available()
    except Exception:  # an older torch: ask those it may have
        found = (getattr(torch, name, None) for name in ("cuda", "xpu", "npu", "mtia", "hpu"))
        return any(device.is_available() for device in found if device is not None)


def _tell_of_other(begins: int) -> None:
    """The driver has loaded the library by now; where it has not, there is nothing to notify."""
    try:
        ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).strata_inject_other(begins)
    except (OSError, AttributeError, KeyError):
        pass


def _torch_is_there(torch: Any) -> None:
    if _driver_loads_us(torch):
        from strata._base import on_import
        from strata._timeline import other_profiler
        other_profiler.watch(torch.autograd.profiler.profile, _tell_of_other)
        on_import.when_imported(other_profiler.MONITOR,
                                lambda module: other_profiler.watch_monitor(module, _tell_of_other))
        return
    recorded = True
    try:
        _record_operators()
    except (OSError, AttributeError):
        recorded = False  # not installed beside us, or another version's: torch.profiler does it all
    if not recorded or _has_device(torch):
        _wait_for_a_module(torch)


def _wait_for_a_module(torch: Any) -> None:
    """torch.profiler begins with the first call of a module: what is before it is loading."""
    global _hook
    _hook = torch.nn.modules.module.register_module_forward_pre_hook(_module_called)
    os.register_at_fork(after_in_child=_forget_in_child)


def begin() -> None:
    """Called once, when recording starts."""
    from strata._base import on_import
    from strata._timeline import derived_ranges, standby
    if standby.wanted():
        standby.begin()
    elif wanted():
        if rests():
            _share_units()
        on_import.when_imported("torch", _torch_is_there)
        derived_ranges.start()
    elif settings.flag("STRATA_AUTO", False):  # under strata run
        derived_ranges.start(as_stages=True)
