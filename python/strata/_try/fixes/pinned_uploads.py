"""pinned_uploads: copies to the GPU from pinned memory, without waiting for them."""
from __future__ import annotations

import functools
from typing import Any

from strata._try.fixes.base import Fix, Note, alone

LEAST_BYTES = 1 << 16


class PinnedUploads(Fix):
    name = "pinned_uploads"
    switches = True
    unseen = "the program uploads no large tensor from pageable memory"
    changes = ("Tensors of 64 KiB or more that go to the GPU by .to(), .cuda() or copy_() are copied to "
               "pinned memory first and then without waiting.")
    safe = "If the program does not write to the tensor's memory through something torch cannot see."
    results = "nothing"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [(cls.name, alone(finding))] if finding.get("rule") == "pageable_copy" else []

    def on_torch(self, torch: Any) -> None:
        tensor = torch.Tensor
        to, cuda, copy = tensor.to, tensor.cuda, tensor.copy_

        @functools.wraps(to)
        def pinned_to(t: Any, *args: Any, **kwargs: Any) -> Any:
            if self._matters(t):
                target = torch._C._nn._parse_to(*args, **kwargs)[0] if args or kwargs else None
                if target is not None and target.type == "cuda":
                    self._seen()
                    kwargs["non_blocking"] = True
                    return to(t.pin_memory(), *args[:2], **kwargs)
            return to(t, *args, **kwargs)

        @functools.wraps(cuda)
        def pinned_cuda(t: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not self._matters(t):
                return cuda(t, device, *args, **kwargs)
            self._seen()
            return cuda(t.pin_memory(), device, non_blocking=True)

        @functools.wraps(copy)
        def pinned_copy(t: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(source, tensor) and t.is_cuda and self._matters(source):
                self._seen()
                return copy(t, source.pin_memory(), True)
            return copy(t, source, *args, **kwargs)

        tensor.to, tensor.cuda, tensor.copy_ = pinned_to, pinned_cuda, pinned_copy

    def _matters(self, t: Any) -> bool:
        return self.is_on and t.device.type == "cpu" and t.numel() * t.element_size() >= LEAST_BYTES and (
            not t.is_sparse and not t.is_pinned())

    def _seen(self) -> None:
        if not getattr(self, "_noted", False):
            from strata._try.inside import places
            self._noted = True
            self.note(self, "site", source=places.here())

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["x.pin_memory().to(device, non_blocking=True)",
                      "# or once: DataLoader(pin_memory=True), buffers made with pin_memory=True"])]
