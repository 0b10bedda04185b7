"""static_cache: generate() of transformers with a cache of fixed size."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes.base import Fix, Note, option

OWN = ("past_key_values", "cache_implementation")  # what a program passes that has chosen its cache


class StaticCache(Fix):
    name = "static_cache"
    switches = True
    set_up_s = 30.0
    changes = ('generate() of transformers gets cache_implementation="static": keys and values have a '
               "place that stays, so that transformers compiles a step of decoding, and replays it as a "
               "CUDA graph.")
    safe = ("If the model can do it: generate() refuses otherwise. The cache is as large as the longest "
            "text; other lengths of prompts are compiled again.")
    results = "Rounding: a sampled token may be another one, and so all that follow."
    unseen = "no call of generate() leaves the kind of its cache open"

    def read(self, arguments: list[str]) -> None:
        super().read(arguments)
        self.is_noted = False

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        graphed = option(finding, "cuda_graph")
        if finding.get("rule") != "launch_bound" or graphed is None:
            return []
        return [(cls.name, graphed)]

    def at_start(self) -> None:
        when_imported("transformers.generation.utils", self._generation)

    def _generation(self, utils: Any) -> None:
        mixin = utils.GenerationMixin
        plain = mixin.generate

        @functools.wraps(plain)
        def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
            if not _is_open(model, kwargs):
                return plain(model, *args, **kwargs)
            if not self.is_noted:
                from strata._try.inside import places
                self.is_noted = True
                self.note(self, "site", source=places.here(), call="generate")
            return self._while_on(plain, (model, *args), kwargs)

        mixin.generate = generate

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        try:
            return plain(*args, **{**kwargs, "cache_implementation": "static"})
        except Exception as why:
            self.failed(self, why)  # whatever the program would make of it
            raise

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(['model.generate(..., cache_implementation="static")'],
                     call={"set": {"cache_implementation": '"static"'}})]


def _is_open(model: Any, kwargs: dict[str, Any]) -> bool:
    """Whether the program has not chosen a cache itself."""
    config = kwargs.get("generation_config") or getattr(model, "generation_config", None)
    return not any(kwargs.get(k) is not None for k in OWN) and (
        kwargs.get("use_cache", True) is not False) and (
        getattr(config, "cache_implementation", None) is None)
