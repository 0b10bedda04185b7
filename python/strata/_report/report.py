"""What strata.report returns, of this run as of a trace: one kind of object, whatever is installed."""
from __future__ import annotations

import errno
import html
import json
import os
import subprocess
import tempfile
from typing import Any

from strata._base.command import LONGEST_S, program, read
from strata._base.extension import core
from strata._report.table import render

NO_COMMAND = "the strata command is not installed; `pip install strata-profiler` installs it"
OWN_STATUSES = (1, 2, 3, 4)  # with which the command says what is wrong with a trace
PLAIN_PAGE = '<!DOCTYPE html>\n<meta charset="utf-8">\n<title>strata</title>\n<pre>{}</pre>\n'


class Report(dict[str, Any]):
    """A dict: the content of timing.json for this run, of `strata report --json` for a trace. str()
    is the text for terminals, `html` the page, which notebooks show inline. Where the command or its
    viewer is missing, `missing` says so, and `html` holds the text alone."""

    def __init__(self, content: dict[str, Any], trace: str | None = None, page: str = "",
                 missing: str = "", height: int = 720) -> None:
        super().__init__(content)
        self.trace = trace
        self.missing = missing
        self.height = height
        self._page = page

    def __repr__(self) -> str:
        return (f"<strata report of {self.trace or 'this run'}: print() shows it, .save(path) "
                "keeps it>")

    def __str__(self) -> str:
        if self.trace is None:
            made = core.made_dir() if core is not None else None
            return render(self, made or "") if self.get("stages") else "strata: no stages yet\n"
        return read(self.trace, "--color", "never") or f"strata: {self.missing or NO_COMMAND}\n"

    @property
    def html(self) -> str:
        """A page for browsers, complete in itself."""
        return self._page or PLAIN_PAGE.format(html.escape(str(self)))

    @property
    def stages(self) -> list[dict[str, Any]]:
        """One row per stage, as pandas.DataFrame and polars.DataFrame take them: of a trace or a run
        the rows of `strata stages --json`, of this run those of timing.json."""
        if self.trace is None:
            return list(self.get("stages", {}).values())
        command = program()
        if command is None or self.missing == NO_COMMAND:
            return []
        done = _ask(command, self.trace, view="stages")
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"strata stages: status {done.returncode}")
        rows: list[dict[str, Any]] = json.loads(done.stdout)["stages"]
        return rows

    def _repr_html_(self) -> str:
        """In a frame that can run its own scripts and reach nothing: neither the notebook nor the
        network."""
        if not self._page:
            return f"<pre>{html.escape(str(self))}</pre>"
        return (f'<iframe sandbox="allow-scripts" width="100%" height="{self.height}" '
                f'style="border: 0" srcdoc="{html.escape(self._page)}"></iframe>')

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file: the page to .html, the dict to .json, the text to any other."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending in (".html", ".htm"):
            text = self.html
        else:
            text = json.dumps(self, indent=1) + "\n" if ending == ".json" else str(self)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)


def of_trace(trace: Any, height: int = 720) -> Report:
    """The report of a trace: a path, or a strata.profile that has written one. Raises
    FileNotFoundError where there is none, and RuntimeError with what the command says about one that
    it cannot read."""
    path = os.fspath(getattr(trace, "trace", None) or trace)
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    command = program()
    if command is None:
        return Report({}, path, missing=NO_COMMAND, height=height)
    try:
        content, page, missing = _read(command, path)
    except (OSError, subprocess.SubprocessError) as why:
        return Report({}, path, missing=str(why), height=height)
    return Report(content, path, page, missing, height)


def _read(command: str, path: str) -> tuple[dict[str, Any], str, str]:
    """Content and page of a trace, and why the page is missing; both come from one reading of it."""
    with tempfile.TemporaryDirectory(prefix="strata-") as folder:
        target = os.path.join(folder, "report.html")
        done = _ask(command, path, "--html", target)
        if done.returncode == 0:
            with open(target, encoding="utf-8") as f:
                return json.loads(done.stdout), f.read(), ""
    missing = done.stderr.strip()  # the viewer, unless the trace itself is at fault
    done = _ask(command, path)
    if done.returncode == 0:
        return json.loads(done.stdout), "", missing
    why = done.stderr.strip() or f"strata report: status {done.returncode}"
    if done.returncode in OWN_STATUSES:
        raise RuntimeError(why)
    return {}, "", why  # it does not start here: a library is missing, or it was killed


def _ask(command: str, path: str, *options: str,
         view: str = "report") -> subprocess.CompletedProcess[str]:
    return subprocess.run([command, view, path, "--json", *options], capture_output=True,
                          text=True, timeout=LONGEST_S, check=False)
