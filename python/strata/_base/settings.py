"""Settings from the environment. An invalid value is reported once, and the default is used."""
from __future__ import annotations

import os
import sys

try:
    STARTED_IN = os.getcwd()
except OSError:  # a folder that was removed
    STARTED_IN = ""

OUT_GIVEN = bool(os.environ.get("STRATA_OUT"))  # by the user, not by us for other processes

_YES = {"on", "1", "true", "yes", "stages", "timeline"}
_NO = {"off", "0", "false", "no", "none", "disable", "disabled"}
_told: set[str] = set()


def tell(text: str) -> None:
    """Text on stderr; a program without one (a service, pythonw) loses it, and nothing else. Never
    on stdout, which is the program's."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
    except Exception:
        pass


def say(text: str) -> None:
    """One line on stderr, once."""
    if text not in _told:
        _told.add(text)
        tell(f"strata: {text}\n")


def flag(name: str, default: bool) -> bool:
    """A switch: on/off, 1/0, true/false, yes/no."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in _YES:
        return True
    if value in _NO:
        return False
    say(f"{name}={value!r} is neither on nor off; using {'on' if default else 'off'}")
    return default


def number(name: str, default: int, least: int = 0) -> int:
    """A whole number."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    try:
        found = int(value)
    except ValueError:
        found = least - 1
    if found < least:
        say(f"{name}={value!r} is not a whole number of at least {least}; using {default}")
        return default
    return found


def words(name: str) -> list[str]:
    """A list separated by commas."""
    return [word.strip() for word in os.environ.get(name, "").split(",") if word.strip()]
