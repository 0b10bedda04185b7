"""What is done when other packages are imported: torch.compile learns to leave stages out of its
graphs, and, under `strata run`, diffusers pipelines are annotated automatically."""
from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable
from typing import Any

from strata._base import settings
from strata._base.extension import core
from strata._base.on_import import when_imported
from strata._pipeline.annotate import MARKED, PipelineHandle


def _teach_dynamo(dynamo: Any) -> None:
    """Stages and derived ranges inside a compiled function are left out of the graph instead of
    breaking it."""
    def no_stage(name: str, *, sync: bool = False, save_inputs: bool = False) -> Any:
        return contextlib.nullcontext()

    def always() -> bool:
        return True

    def never(number: int = 0) -> bool:
        return False

    for ours, instead in ((core.stage, no_stage), (core.inside_module, always),
                          (core.derived_begin, never), (core.may_derive, never)):
        dynamo.decorators.substitute_in_graph(ours, skip_signature_check=True)(instead)


def _annotate_diffusers(pipeline_utils: Any) -> None:
    """Every pipeline class made from now on annotates its instances when they are called."""
    handles: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
    base = pipeline_utils.DiffusionPipeline
    plain = base.__init_subclass__.__func__ if "__init_subclass__" in vars(base) else None

    def annotated(call: Callable) -> Callable:
        @functools.wraps(call)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                handle = handles.get(self)
                if handle is None:
                    handles[self] = PipelineHandle(self)
                else:
                    handle.refresh()
            except Exception as why:
                settings.say(f"cannot annotate {type(self).__name__}: {why!r}")
            with core.stage("pipeline_call"):
                return call(self, *args, **kwargs)

        setattr(wrapper, MARKED, True)
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
