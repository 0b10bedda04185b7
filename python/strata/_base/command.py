"""The strata command, and its report on a trace."""
from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

from strata._base import PACKAGE, settings

LONGEST_S = 600


def program() -> str | None:
    """The strata command: the one that started us, the one that was built or installed with this
    package, or one beside this Python or on the path."""
    beside = os.path.join(os.path.dirname(sys.executable or ""), "strata")
    for path in (os.environ.get("STRATA_BIN"), *_installed(), beside):
        if path and os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.abspath(path)
    return shutil.which("strata")


def _installed() -> list[str]:
    """Where it lies, seen from this package: as built, in a Python environment, after `pip install
    --target`, in a wheel that was unpacked."""
    around = os.path.join(PACKAGE, "..")
    unpacked = os.path.join(glob.escape(around), "strata_profiler-*.data", "scripts", "strata")
    return [os.path.join(around, "..", "src", "strata"),
            os.path.join(around, "..", "..", "..", "bin", "strata"),
            os.path.join(around, "bin", "strata"), *glob.glob(unpacked)]


def read(trace: str, *options: str) -> str:
    """The output of `strata report` for a trace; empty if the strata command is not installed."""
    command = program()
    if command is None:
        return ""
    try:
        done = subprocess.run([command, "report", trace, *options], capture_output=True, text=True,
                              timeout=LONGEST_S, check=False)
    except (OSError, subprocess.SubprocessError) as why:
        settings.say(f"no report of {trace}: {why}")
        return ""
    return done.stdout or done.stderr
