"""Where in the user's code something happens, and what it is called there."""
from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_LIBRARIES = tuple({os.path.realpath(p) + os.sep for p in sysconfig.get_paths().values() if p})


def is_users(path: str) -> bool:
    """Whether a file is the user's: not Python's, not a package's, not ours."""
    if path.startswith("<"):
        return False
    real = os.path.realpath(path)
    parts = real.split(os.sep)
    return not real.startswith(_OURS + os.sep) and "site-packages" not in parts and (
        "dist-packages" not in parts) and not real.startswith(_LIBRARIES)


def frame() -> Any:
    """The innermost frame of the user's code, None when there is none."""
    found: Any = sys._getframe(1)
    while found is not None and not is_users(found.f_code.co_filename):
        found = found.f_back
    return found


def here() -> dict[str, Any]:
    """File, line and function of the user's code that has called us."""
    found = frame()
    return of_frame(found) if found is not None else {}


def library() -> str:
    """The module of a library that the user's code has called, and which has called us; "" if there is none.
    Code of ours and of torch in between does not count."""
    found: Any = sys._getframe(1)
    last = ""
    while found is not None and not is_users(found.f_code.co_filename):
        name = str(found.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in ("strata", "torch"):
            last = name
        found = found.f_back
    return last


def of_frame(found: Any) -> dict[str, Any]:
    return {"file": os.path.abspath(found.f_code.co_filename), "line": found.f_lineno,
            "function": found.f_code.co_name}


def name_of(value: Any) -> str:
    """What the user's code calls an object where it is used; "" when it has no name there."""
    found = frame()
    while found is not None:
        for names in (found.f_locals, found.f_globals):
            for name, held in list(names.items()):
                if held is value and name.isidentifier() and not name.startswith("_") and (
                        name != "self"):
                    return name
        found = found.f_back
    return ""


def of_error(why: BaseException) -> dict[str, Any]:
    """An exception for a report: what it says, and the line of the user's code, or at least of a
    library, it came through last; of one that was not raised, the line that is being run."""
    trace, users, last = why.__traceback__, None, None
    while trace is not None:
        code = trace.tb_frame.f_code
        at = {"file": code.co_filename, "line": trace.tb_lineno, "function": code.co_name}
        if not os.path.realpath(code.co_filename).startswith(_OURS + os.sep):
            last = at
        if is_users(code.co_filename):
            users = at
        trace = trace.tb_next
    lines = [line.strip() for line in str(why).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    return {"type": type(why).__name__, "message": text[:400], "source": users or last or here() or None,
            "raised": last}
