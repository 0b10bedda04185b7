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


# The same list is in src/cli/recording/old_settings.c.
RENAMED = {
    "STRATA_CHECKPOINT": "STRATA_TEST_CHECKPOINT",
    "STRATA_CLOCK": "STRATA_TEST_CLOCK",
    "STRATA_CLOCKS": "STRATA_TEST_CLOCKS",
    "STRATA_DEBUGINFOD": "STRATA_TEST_DEBUGINFOD",
    "STRATA_DERIVED": "STRATA_TEST_DERIVED",
    "STRATA_FLUSH_MS": "STRATA_TEST_FLUSH_MS",
    "STRATA_GC": "STRATA_TEST_GC",
    "STRATA_GPU": "STRATA_TEST_GPU",
    "STRATA_MEMORY": "STRATA_TEST_MEMORY",
    "STRATA_MOST_RECORDS": "STRATA_TEST_MOST_RECORDS",
    "STRATA_PROFILE_MEMORY": "STRATA_TEST_PROFILER_MEMORY",
    "STRATA_RINGS": "STRATA_TEST_RINGS",
    "STRATA_SAMPLES": "STRATA_TEST_SAMPLES",
    "STRATA_SHAPES": "STRATA_TEST_PROFILER_SHAPES",
    "STRATA_SIGNATURES": "STRATA_TEST_SIGNATURES",
    "STRATA_STACK": "STRATA_PROFILER_STACK",
    "STRATA_STACKS": "STRATA_PYTHON_STACKS",
    "STRATA_SYNC_RECORDS": "STRATA_TEST_SYNC_RECORDS",
    "STRATA_THREADS": "STRATA_TEST_THREADS",
    "STRATA_TIMELINE_SECONDS": "STRATA_TEST_TIMELINE_SECONDS",
    "STRATA_WAIT_US": "STRATA_TEST_WAIT_US",
}


def take_old_names() -> None:
    """Gives variables that are set under an old name the new one, for this process and those it starts."""
    for old, now in RENAMED.items():
        value = os.environ.get(old)
        if value is not None and now not in os.environ:
            say(f"{old} is now called {now}; the old name works until the next release")
            os.environ[now] = value


take_old_names()


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
