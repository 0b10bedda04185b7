"""Things to do when a module is imported, without importing it: torch.compile learns to leave
stages out of its graphs, and, under `strata run`, diffusers pipelines are annotated by themselves."""
from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import Any, Callable

from strata._base import settings

_waiting: dict[str, Callable[[Any], None]] = {}


class _Finder(importlib.abc.MetaPathFinder):
    """Lets others find the module, and runs the action after it has been loaded."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        action = _waiting.pop(name, None)
        if action is None:
            return None
        if not _waiting:
            _remove()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, action)
        return spec


class _Loader(importlib.abc.Loader):
    """A loader with something to do afterwards."""

    def __init__(self, inner: Any, action: Callable[[Any], None]) -> None:
        self.inner = inner
        self.action = action

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def create_module(self, spec: Any) -> Any:
        return self.inner.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self.inner
        self.inner.exec_module(module)
        _run(self.action, module)


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
    _waiting[name] = action
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def _teach_dynamo(dynamo: Any) -> None:
    """A stage inside a compiled function is left out of the graph instead of breaking it."""
    import contextlib

    from strata._base.extension import core

    def no_stage(name: str, *, sync: bool = False, save_inputs: bool = False) -> Any:
        return contextlib.nullcontext()

    dynamo.decorators.substitute_in_graph(core.stage, skip_signature_check=True)(no_stage)


def _annotate_diffusers(pipeline_utils: Any) -> None:
    """Every pipeline class made from now on annotates its instances when they are called."""
    import functools
    import weakref

    from strata._base.extension import core
    from strata._pipeline.annotate import annotate_pipeline
    handles: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
    base = pipeline_utils.DiffusionPipeline
    plain = base.__init_subclass__.__func__ if "__init_subclass__" in vars(base) else None

    def annotated(call: Callable) -> Callable:
        @functools.wraps(call)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                handle = handles.get(self)
                if handle is None:
                    handles[self] = annotate_pipeline(self)
                else:
                    handle.refresh()
            except Exception as why:
                settings.say(f"{type(self).__name__} is not annotated: {why!r}")
            with core.stage("pipeline_call"):
                return call(self, *args, **kwargs)

        return wrapper

    def init_subclass(cls: Any, **kwargs: Any) -> None:
        if plain is not None:
            plain(cls, **kwargs)
        else:
            super(base, cls).__init_subclass__(**kwargs)
        if "__call__" in vars(cls):
            cls.__call__ = annotated(cls.__call__)

    base.__init_subclass__ = classmethod(init_subclass)


def begin() -> None:
    """Called once, when recording starts."""
    when_imported("torch._dynamo", _teach_dynamo)
    if settings.flag("STRATA_AUTO", False):
        when_imported("diffusers.pipelines.pipeline_utils", _annotate_diffusers)
