"""attention:flash|cudnn|efficient: a fused backend of scaled_dot_product_attention."""
from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes.base import Fix, FixError, Note, Unfit, alone

SWITCHES = ("flash_sdp", "mem_efficient_sdp", "cudnn_sdp", "math_sdp")
LOOKED_AT = 64  # calls of attention until it is certain that no fused kernel takes them
BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}


class Attention(Fix):
    name = "attention"
    switches = True
    takes = "flash|cudnn|efficient"
    changes = ("scaled_dot_product_attention may use fused kernels, the named ones first, even where the "
               'program disables them; models of transformers with attn_implementation="eager" use it too.')
    safe = "With bf16 and fp16; float32 has only the efficient kernels."
    results = "Rounding; results of a model that asks for attention weights lack them."

    def read(self, arguments: list[str]) -> None:
        if len(arguments) != 1 or arguments[0] not in BACKENDS:
            raise FixError("attention takes one of flash, cudnn, efficient")
        self.backend = arguments[0]
        self.configs: list[Any] = []  # of models that ask for none of the fused kernels
        self._looked = 0  # at calls that no fused kernel takes
        self._plain: Any = None  # scaled_dot_product_attention, while it is watched
        self._has_begun = False

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        if finding.get("rule") not in ("unfused_attention", "slow_attention"):
            return []
        if "Pass no mask" in str(finding.get("fix")):  # fused it is, and it cannot be faster with the mask
            return []
        return [("attention:flash", alone(finding))]

    def on_torch(self, torch: Any) -> None:
        attention = torch.nn.attention
        order = [BACKENDS[self.backend], *(b for b in BACKENDS.values() if b != BACKENDS[self.backend])]
        self.backends = [getattr(attention.SDPBackend, name) for name in order]
        self.backends.append(attention.SDPBackend.MATH)
        plain = attention.sdpa_kernel
        fused, fix = self.backends, self

        @contextlib.contextmanager
        def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[Any]:
            if fix.is_on:
                fix.seen()
                backends, set_priority = fused, True
            with plain(backends, set_priority=set_priority) as found:
                yield found

        attention.sdpa_kernel = sdpa_kernel
        when_imported("transformers.modeling_utils", self._transformers)
        self._read_own(torch)
        self.switch(self.is_on)

    def _watch(self, on: bool) -> None:
        """Whether a fused kernel takes what the program calls attention with. Only while it runs: what is
        compiled before that has to find the function that torch knows."""
        torch = sys.modules["torch"]
        functional = torch.nn.functional
        if self._plain is not None:
            functional.scaled_dot_product_attention, self._plain = self._plain, None
        if not on or self._looked >= LOOKED_AT:
            return
        plain, fix = functional.scaled_dot_product_attention, self
        self._plain = plain

        @functools.wraps(plain)
        def attend(*args: Any, **kwargs: Any) -> Any:
            if fix._looked < LOOKED_AT and not torch.compiler.is_compiling():
                fix._look(torch, args, kwargs)
            return plain(*args, **kwargs)

        functional.scaled_dot_product_attention = attend

    def _look(self, torch: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        self._looked += 1
        try:
            is_fused = bool(torch._fused_sdp_choice(*args, **kwargs))  # 0 is the math path
        except Exception:
            is_fused = True  # it cannot be asked
        if is_fused:
            self._looked = LOOKED_AT
        elif self._looked == LOOKED_AT:
            self.failed(self, Unfit(_refused(*args, **kwargs)))

    def seen(self, by: str = "") -> None:
        """The line of the program that chooses a backend, once; `by` whose choice it is."""
        if not getattr(self, "_noted", False):
            from strata._try.inside import places
            self._noted = True
            self.note(self, "site", source=places.here(), by=by)

    def on_first_unit(self) -> None:
        if not self.is_on:
            self._read_own(sys.modules["torch"])
        self._has_begun = True
        self.switch(self.is_on)

    def _read_own(self, torch: Any) -> None:
        self.own = [getattr(torch.backends.cuda, f"{name}_enabled", bool)() for name in SWITCHES]
        order = getattr(torch._C, "_get_sdp_priority_order", None)
        self.own_order = list(order()) if order is not None else []

    def switch(self, on: bool) -> None:
        super().switch(on)
        torch = sys.modules["torch"]
        for name, own in zip(SWITCHES, self.own):
            getattr(torch.backends.cuda, f"enable_{name}", lambda on: None)(on or own)
        order = getattr(torch._C, "_set_sdp_priority_order", None)
        if order is not None and (on or self.own_order):
            order([int(b) for b in self.backends] if on else self.own_order)
        for config in self.configs:
            config._attn_implementation = "sdpa" if on else "eager"
        self._watch(on and self._has_begun)

    def _transformers(self, modeling: Any) -> None:
        model, fix = modeling.PreTrainedModel, self
        plain = model.__init__

        def init(self: Any, config: Any, *args: Any, **kwargs: Any) -> None:
            eager = getattr(config, "_attn_implementation", None) == "eager"
            if eager:
                fix.seen("transformers")
                if fix.is_on:
                    config._attn_implementation = "sdpa"
            plain(self, config, *args, **kwargs)
            if eager:
                fix.configs.append(self.config)

        model.__init__ = init

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        name = BACKENDS[self.backend]
        if seen.get("by") == "transformers":
            return [Note(['from_pretrained(..., attn_implementation="sdpa")  # instead of "eager"'])]
        return [Note([f"with sdpa_kernel([SDPBackend.{name}, SDPBackend.EFFICIENT_ATTENTION]):",
                      "# around the model, or no sdpa_kernel at all: the default chooses a fused kernel"])]


def _refused(query: Any, key: Any, value: Any, attn_mask: Any = None, *_: Any, **__: Any) -> str:
    """Why no fused kernel computes it, as far as that can be seen."""
    inputs = (query, key, value)
    why = ""
    if any(t.stride(-1) != 1 for t in inputs):
        why = ": the last dimension of query, key or value is not contiguous; .contiguous() helps"
    elif query.size(-1) % 8:
        why = f": its head size, {query.size(-1)}, is not a multiple of 8"
    elif attn_mask is not None:
        why = ": it has a mask; is_causal=True helps where it says the same"
    return f"no fused kernel takes the inputs of scaled_dot_product_attention{why}"
