"""Things to do when a module is imported, without importing it."""
from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from strata._base import settings

_waiting: dict[str, list[Callable[[Any], None]]] = {}


class _Finder(importlib.abc.MetaPathFinder):
    """Lets others find the module, and runs the action after it has been loaded."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        actions = _waiting.pop(name, None)
        if actions is None:
            return None
        if not _waiting:
            _remove()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, actions)
        return spec


class _Loader(importlib.abc.Loader):
    """A loader with something to do afterwards."""

    def __init__(self, inner: Any, actions: list[Callable[[Any], None]]) -> None:
        self.inner = inner
        self.actions = actions

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def create_module(self, spec: Any) -> Any:
        return self.inner.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self.inner
        self.inner.exec_module(module)
        for action in self.actions:
            _run(action, module)


def _run(action: Callable[[Any], None], module: Any) -> None:
    try:
        action(module)
    except Exception as why:
        settings.say(f"{module.__name__}: {why!r}")


_finder = _Finder()


def _remove() -> None:
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def when_imported(name: str, action: Callable[[Any], None]) -> None:
    """Calls `action` with the module once it is loaded, now if it is already."""
    module = sys.modules.get(name)
    if module is not None:
        _run(action, module)
        return
    _waiting.setdefault(name, []).append(action)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
