"""Results of a function that the user names (--output): its code is recognized when it returns, so it
may be defined anywhere, in the script itself too."""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

KEPT = 4


def watch(name: str, keep: Callable[[int, Any], None]) -> None:
    """Keeps what the first calls of `name` (`function`, `Class.method`) return."""
    wanted = name.rpartition(":")[2]
    count = [0]

    def returned(value: Any) -> None:
        if count[0] < KEPT:
            keep(count[0], value)
            count[0] += 1

    (_by_monitoring if hasattr(sys, "monitoring") else _by_profile)(wanted, returned)


def _is(code: Any, wanted: str) -> bool:
    full = getattr(code, "co_qualname", code.co_name)
    return full == wanted or full.replace("<locals>.", "").endswith("." + wanted)


def _by_monitoring(wanted: str, returned: Callable[[Any], None]) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]

    def on_return(code: Any, offset: int, value: Any) -> Any:
        if not _is(code, wanted):
            return monitoring.DISABLE
        returned(value)
        return None

    tool = next(i for i in (4, 3, 5) if monitoring.get_tool(i) is None)
    monitoring.use_tool_id(tool, "strata try")
    monitoring.register_callback(tool, monitoring.events.PY_RETURN, on_return)
    monitoring.set_events(tool, monitoring.events.PY_RETURN)


def _by_profile(wanted: str, returned: Callable[[Any], None]) -> None:
    def profile(frame: Any, event: str, value: Any) -> None:
        if event == "return" and _is(frame.f_code, wanted):
            returned(value)

    sys.setprofile(profile)
    threading.setprofile(profile)
