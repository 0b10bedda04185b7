"""Recording begins, when the package is imported: every part is started here, in one place."""
from __future__ import annotations

import os

from strata._base import run_files, settings
from strata._base.extension import core
from strata._pipeline import import_actions
from strata._record import hooks, out_of_memory, stage
from strata._report import timing
from strata._timeline import torch_fallback


def _share_with_children() -> None:
    """Processes started from here join this run: they inherit a key, and agree on a folder by it
    when the first of them has something to write."""
    if os.environ.get("STRATA_RUN"):
        return
    key = core.launch_key() or f"process {os.getpid()} {os.stat(f'/proc/{os.getpid()}').st_ctime_ns}"
    os.environ.setdefault("STRATA_LAUNCH", key)
    os.environ.setdefault("STRATA_PIPELINE", run_files.pipeline_name())
    out = os.environ.get("STRATA_OUT") or "strata_out"
    os.environ["STRATA_OUT"] = os.path.normpath(os.path.join(settings.STARTED_IN, out))


def begin() -> None:
    """Starts recording; nothing is written before the first stage."""
    _share_with_children()
    env = os.environ.get
    core.start(env("STRATA_RUN") or None, env("STRATA_OUT") or None, env("STRATA_PIPELINE") or None,
               settings.flag("STRATA_TEST_RINGS", True), False)
    core.set_process_name(env("STRATA_PIPELINE") or run_files.pipeline_name())
    core.connect(hooks.probe, stage.decorate, stage.current_task)
    hooks.begin()
    import_actions.begin()
    timing.begin()
    out_of_memory.begin()
    torch_fallback.begin()
