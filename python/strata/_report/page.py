"""A trace's report as a page: shown inline by notebooks, printed as text."""
from __future__ import annotations

import html
import os
import subprocess
import tempfile
from typing import Any

from strata._base.command import LONGEST_S, program, read


class Page:
    """What `strata report` makes of a trace: `html` for browsers, str() for terminals."""

    def __init__(self, trace: str, page: str, height: int) -> None:
        self.trace = trace
        self.html = page
        self.height = height

    def __repr__(self) -> str:
        return f"<strata report of {self.trace}: print() shows it, .save(path) keeps the page>"

    def __str__(self) -> str:
        return read(self.trace, "--color", "never")

    def _repr_html_(self) -> str:
        """In a frame that can run its own scripts and reach nothing: neither the notebook nor the
        network."""
        return (f'<iframe sandbox="allow-scripts" width="100%" height="{self.height}" '
                f'style="border: 0" srcdoc="{html.escape(self.html)}"></iframe>')

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file."""
        with open(path, "w", encoding="utf-8") as out:
            out.write(self.html)


def page(trace: Any, height: int = 720) -> Page:
    """The report of a trace: a path, or a strata.profile that has written one. Raises RuntimeError
    with what the command says when there is none."""
    path = os.fspath(getattr(trace, "trace", None) or trace)
    command = program()
    if command is None:
        raise RuntimeError("the strata command is not installed; `pip install .` brings it")
    with tempfile.TemporaryDirectory(prefix="strata-") as folder:
        target = os.path.join(folder, "report.html")
        done = subprocess.run([command, "report", path, "--html", target], capture_output=True,
                              text=True, timeout=LONGEST_S, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"strata report: status {done.returncode}")
        with open(target, encoding="utf-8") as f:
            return Page(path, f.read(), height)
