"""attention:flash|cudnn|efficient: a fused backend of scaled_dot_product_attention."""
from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes.base import Fix, FixError, Note, alone

BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}


class Attention(Fix):
    name = "attention"
    takes = "flash|cudnn|efficient"
    changes = ("scaled_dot_product_attention may use fused kernels, the named ones first, whatever the "
               "program forbids; models of transformers with attention=eager use it.")
    safe = "With bf16 and fp16; float32 has only the efficient kernels."
    results = "Rounding; results of a model that asks for attention weights lack them."

    def read(self, arguments: list[str]) -> None:
        if len(arguments) != 1 or arguments[0] not in BACKENDS:
            raise FixError("attention takes one of flash, cudnn, efficient")
        self.backend = arguments[0]

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        if finding.get("rule") not in ("unfused_attention", "slow_attention"):
            return []
        return [("attention:flash", alone(finding))]

    def on_torch(self, torch: Any) -> None:
        attention = torch.nn.attention
        order = [BACKENDS[self.backend], *(b for b in BACKENDS.values() if b != BACKENDS[self.backend])]
        self.backends = [getattr(attention.SDPBackend, name) for name in order]
        self.backends.append(attention.SDPBackend.MATH)
        plain = attention.sdpa_kernel
        backends, fix = self.backends, self

        @contextlib.contextmanager
        def sdpa_kernel(wanted: Any, set_priority: bool = False) -> Iterator[Any]:
            fix.seen()
            with plain(backends, set_priority=True) as found:
                yield found

        attention.sdpa_kernel = sdpa_kernel
        when_imported("transformers.modeling_utils", self._transformers)
        self._allow(torch)

    def seen(self) -> None:
        """The line of the program that chooses a backend, once."""
        if not getattr(self, "_noted", False):
            from strata._try.inside import places
            self._noted = True
            self.note(self, "site", source=places.here())

    def _allow(self, torch: Any) -> None:
        for name in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
            getattr(torch.backends.cuda, name, lambda on: None)(True)
        torch.backends.cuda.enable_math_sdp(True)
        priority = getattr(torch._C, "_set_sdp_priority_order", None)
        if priority is not None:
            priority([int(b) for b in self.backends])

    def on_first_unit(self) -> None:
        self._allow(sys.modules["torch"])

    def _transformers(self, modeling: Any) -> None:
        model, fix = modeling.PreTrainedModel, self
        plain = model.__init__

        def init(self: Any, config: Any, *args: Any, **kwargs: Any) -> None:
            if getattr(config, "_attn_implementation", None) == "eager":
                fix.seen()
                config._attn_implementation = "sdpa"
            plain(self, config, *args, **kwargs)

        model.__init__ = init

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        name = BACKENDS[self.backend]
        return [Note([f"with sdpa_kernel([SDPBackend.{name}, SDPBackend.EFFICIENT_ATTENTION]):",
                      "# around the model, or no sdpa_kernel at all: the default chooses a fused kernel"])]
