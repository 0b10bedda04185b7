"""The program as of another commit, in the same process: its modules are loaded a second time from a
worktree of that commit. While a variant runs, its own modules stand in sys.modules, so that what it
imports late comes from its own tree too."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from strata.bench.errors import USAGE, BenchError


def _git(folder: str, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True,
                              check=False, timeout=300)
    except OSError as why:
        raise BenchError(f"cannot run git: {why}") from why
    if done.returncode:
        raise BenchError(f"git {words[0]}: {done.stderr.strip() or 'failed'}", USAGE)
    return done.stdout.strip()


class Tree:
    """The modules of the program that lie in one folder."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root) + os.sep
        self.modules: dict[str, Any] = {}

    def take_out(self) -> None:
        """Removes the tree's modules from sys.modules and keeps them."""
        self.modules = {name: module for name, module in list(sys.modules.items())
                        if self._has(module)}
        for name in self.modules:
            del sys.modules[name]

    def put_in(self) -> None:
        """The other way round."""
        sys.modules.update(self.modules)

    def _has(self, module: Any) -> bool:
        if module is sys.modules["__main__"]:
            return False
        spec_file = getattr(module, "__file__", None)
        places = [spec_file] if spec_file else list(getattr(module, "__path__", []) or [])
        return any(os.path.realpath(p).startswith(self.root) for p in places)


class Revision:
    """A worktree of a commit, for as long as the object is in use."""

    def __init__(self, revision: str, beside: str) -> None:
        self.top = _git(os.path.dirname(os.path.abspath(beside)), "rev-parse", "--show-toplevel")
        self.name = revision
        self.commit = _git(self.top, "rev-parse", "--verify", "--short", f"{revision}^{{commit}}")
        self.folder = tempfile.mkdtemp(prefix="strata-bench-")
        self.path = os.path.join(self.folder, "tree")
        self.ours, self.theirs = Tree(self.top), Tree(self.path)
        try:
            _git(self.top, "worktree", "add", "--detach", self.path, self.commit)
        except BenchError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def enter(self) -> None:
        """From now on imports find the other tree."""
        self.ours.take_out()
        self.theirs.put_in()
        self._paths = list(sys.path)
        top = os.path.realpath(self.top)
        sys.path[:] = [self._moved(p, top) for p in self._paths]

    def _moved(self, place: str, top: str) -> str:
        full = os.path.realpath(place or os.curdir)
        inside = full == top or full.startswith(top + os.sep)
        return os.path.join(self.path, os.path.relpath(full, top)) if inside else place

    def leave(self) -> None:
        """Back to the unchanged program."""
        self.theirs.take_out()
        self.ours.put_in()
        sys.path[:] = self._paths

    def remove(self) -> None:
        """Takes the worktree away."""
        try:
            _git(self.top, "worktree", "remove", "--force", self.path)
        except BenchError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
