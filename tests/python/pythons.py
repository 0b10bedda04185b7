"""The CPythons on this machine. STRATA_TEST_PYTHONS names more of them, as PATH would."""
from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys

import pytest

KNOWN = tuple(f"3.{minor}" for minor in range(10, 16))  # versions whose frames are known
ASK = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"


def version_of(path: str) -> str:
    """As "3.12"; empty for what does not run or is another Python."""
    try:
        done = subprocess.run([path, "-c", ASK], capture_output=True, text=True, timeout=60,
                              check=False)
    except OSError:
        return ""
    version, _, name = done.stdout.strip().partition(" ")
    return version if name == "cpython" else ""


@functools.cache
def found() -> dict[str, str]:
    """One of each version that is known."""
    named = os.environ.get("STRATA_TEST_PYTHONS", "").split(os.pathsep)
    places = [sys.executable, *filter(None, named),
              *filter(None, (shutil.which(f"python{v}") for v in KNOWN)),
              *sorted(glob.glob("/usr/bin/python3*")),
              *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))]
    pythons: dict[str, str] = {}
    for path in places:
        pythons.setdefault(version_of(path), path)
    return {v: pythons[v] for v in KNOWN if v in pythons}


def every(since: str = KNOWN[0]) -> pytest.MarkDecorator:
    """Runs a test that takes `python` with each of them; those that are not here are skipped."""
    def one(version: str):
        path = found().get(version)
        missing = pytest.mark.skipif(path is None, reason=f"no Python {version} here")
        return pytest.param(path, id=version, marks=missing)
    return pytest.mark.parametrize("python", [one(v) for v in KNOWN[KNOWN.index(since):]])
