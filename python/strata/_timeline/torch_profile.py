"""strata.profile: torch.profiler.profile with its trace kept in the run's folder and read at once.

    with strata.profile(schedule=strata.schedule(wait=1, warmup=1, active=3)) as prof:
        for batch in data:
            work(batch)
            prof.step()

Takes every argument of torch.profiler.profile and is one; `report=False` keeps it quiet."""
from __future__ import annotations

import functools
from typing import Any

from strata._base import run_files, settings
from strata._base.command import read
from strata._timeline import labels, torch_fallback


def _file_name() -> str:
    """The trace that stands for the run in its folder, unless a timeline of the run is recorded."""
    return "trace.json.gz" if torch_fallback.wanted() else "torch_trace.json.gz"


@functools.lru_cache(maxsize=1)
def _class() -> type:
    import torch

    class Profile(torch.profiler.profile):
        """torch's profiler; `trace` is the path of the last trace it wrote."""

        def __init__(self, *args: Any, report: bool = True, on_trace_ready: Any = None,
                     **kwargs: Any) -> None:
            self.trace: str | None = None
            self._ready = on_trace_ready
            self._tells = report
            self._running = False
            super().__init__(*args, on_trace_ready=self._keep, **kwargs)

        def _keep(self, profiler: Any) -> None:
            try:
                path = run_files.claim(_file_name())
                if path is not None:
                    profiler.export_chrome_trace(path)
                    self.trace = path
            except Exception as why:
                settings.say(f"no trace: {why!r}")
            if self._ready is not None:
                self._ready(profiler)

        def start(self) -> None:
            if not self._running:
                self._running = True
                labels.begin()
            super().start()

        def stop(self) -> None:
            if self._running:
                self._running = False
                labels.end()
            super().stop()
            if self._tells and self.trace and settings.flag("STRATA_TABLE", True):
                text = self.report()
                try:
                    settings.tell(text or f"strata: trace in {self.trace}\n")
                except Exception:
                    pass

        def report(self, *options: str) -> str:
            """The output of `strata report` for the trace."""
            return read(self.trace, *options) if self.trace else ""

    return Profile


def profile(*args: Any, **kwargs: Any) -> Any:
    """A torch.profiler.profile whose trace goes to the run's folder and to `strata report`."""
    return _class()(*args, **kwargs)


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             **more: int) -> Any:
    """torch.profiler.schedule."""
    import torch
    return torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat,
                                   skip_first=skip_first, **more)
