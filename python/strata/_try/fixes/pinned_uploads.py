"""pinned_uploads: copies to the GPU from pinned memory, without waiting for them."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from strata._try.fixes.base import Fix, Note, alone

LEAST_BYTES = 1 << 16
MOST_KEPT = 8  # buffers of one size


class PinnedUploads(Fix):
    name = "pinned_uploads"
    switches = True
    unseen = "the program uploads no large tensor from pageable memory"
    changes = ("Tensors of 64 KiB or more that go to the GPU by .to(), .cuda() or copy_() are copied into "
               "pinned buffers that are used again, then uploaded without blocking the host.")
    safe = "If other streams wait for the upload before they use the tensor."
    results = "Nothing."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [(cls.name, alone(finding))] if finding.get("rule") == "pageable_copy" else []

    def on_torch(self, torch: Any) -> None:
        tensor = torch.Tensor
        to, cuda, copy = tensor.to, tensor.cuda, tensor.copy_
        buffers = Buffers(torch)

        @functools.wraps(to)
        def pinned_to(t: Any, *args: Any, **kwargs: Any) -> Any:
            if self._matters(t):
                target = torch._C._nn._parse_to(*args, **kwargs)[0] if args or kwargs else None
                if target is not None and target.type == "cuda":
                    self._seen()
                    kwargs["non_blocking"] = True
                    with buffers.of(t, target) as pinned:
                        return to(pinned, *args[:2], **kwargs)
            return to(t, *args, **kwargs)

        @functools.wraps(cuda)
        def pinned_cuda(t: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not self._matters(t):
                return cuda(t, device, *args, **kwargs)
            self._seen()
            with buffers.of(t, device) as pinned:
                return cuda(pinned, device, non_blocking=True)

        @functools.wraps(copy)
        def pinned_copy(t: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(source, tensor) and t.is_cuda and self._matters(source):
                self._seen()
                with buffers.of(source, t.device) as pinned:
                    return copy(t, pinned, True)
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


class Buffers:
    """Pinned memory that is used again once the device has read it: to pin some for every copy costs more
    than it gains."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.kept: dict[int, list[tuple[Any, Any]]] = {}  # by size: memory, and when it was read

    @contextlib.contextmanager
    def of(self, t: Any, device: Any = None) -> Iterator[Any]:
        """The same values in pinned memory, for a copy to that device."""
        if not _is_plain(t) or self.torch.cuda.is_current_stream_capturing():
            yield t.pin_memory()  # which keeps its layout
            return
        size = t.numel() * t.element_size()
        kept = self.kept.setdefault(size, [])
        at = next((i for i, (_, read) in enumerate(kept) if read.query()), None)
        memory = kept.pop(at)[0] if at is not None else self.torch.empty(
            size, dtype=self.torch.uint8, pin_memory=True)
        pinned = memory.view(t.dtype).view(t.shape)
        pinned.copy_(t)
        yield pinned
        if len(kept) < MOST_KEPT:
            read = self.torch.cuda.Event()
            read.record(self.torch.cuda.current_stream(device))
            kept.append((memory, read))


def _is_plain(t: Any) -> bool:
    """Whether its bytes one after the other are all there is to it."""
    return type(t).__name__ in ("Tensor", "Parameter") and t.is_contiguous() and not t.is_quantized
