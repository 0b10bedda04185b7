"""Where the files of TeleFuser's page go: work_dirs/profiler_output/{NAME}/{YYYYMMDD_HHMM}, or exactly the
folder that a variable or set_profiler_output_dir names. The recording of strata itself has its own folder,
as always."""
from __future__ import annotations

import contextlib
import datetime
import os
from pathlib import Path

from strata._base import run_files

OVERRIDES = ("TELEFUSER_PROFILER_OUTPUT_DIR", "PROFILER_OUTPUT_DIR")
_own: set[str] = set()  # written by this process
_stamp = ""


def folder() -> Path:
    """The folder, which need not exist yet. Its minute is that of the first question: the files of one run
    stay together."""
    global _stamp
    for variable in OVERRIDES:
        if os.environ.get(variable):
            return Path(os.environ[variable])
    _stamp = _stamp or datetime.datetime.now().strftime("%Y%m%d_%H%M")
    name = os.environ.get("TELEFUSER_PIPELINE_NAME") or "default"
    return Path("work_dirs") / "profiler_output" / name / _stamp


def rank() -> int:
    return max(run_files.rank()[0], 0)


def report_path(name: str) -> str:
    """The path of a report: by its plain name for the first rank, with rank or process for others."""
    stem, dot, ending = name.partition(".")
    if rank() > 0:
        stem += f"_rank{rank()}"
    elif not run_files.is_main():
        stem += f"_pid{os.getpid()}"
    return str(folder() / (stem + dot + ending))


def make_room(path: str) -> str:
    """The same path, in a folder that exists. A file that an earlier run has left there is kept under
    another name: name_1.json, name_2.json ..."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    key = os.path.abspath(path)
    if key not in _own and os.path.exists(path):
        above, name = os.path.split(path)
        stem, dot, ending = name.partition(".")
        free = (os.path.join(above, f"{stem}_{i}{dot}{ending}") for i in range(1, 100000))
        with contextlib.suppress(OSError):
            os.rename(path, next(p for p in free if not os.path.exists(p)))
    _own.add(key)
    return path
