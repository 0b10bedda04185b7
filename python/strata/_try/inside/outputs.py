"""What a unit returned, kept so that two trials can be compared: tensors, images, arrays, token ids
and texts, each as a digest and a sample of bounded size."""
from __future__ import annotations

import array
import hashlib
import sys
from collections.abc import Iterator
from typing import Any

MOST_ITEMS = 32
MOST_SAMPLES = 1 << 16  # of one item
MOST_DIGEST = 1 << 26  # bytes
DEEPEST = 6


def walk(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Everything in a result that can be compared, with its place."""
    if depth > DEEPEST or value is None:
        return
    if isinstance(value, (str, bytes)) or is_array(value) or is_image(value) or isinstance(
            value, (bool, int, float)):
        yield path, value
    elif isinstance(value, dict):
        for key, held in value.items():
            yield from walk(held, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, (list, tuple)):
        for i, held in enumerate(value):
            yield from walk(held, f"{path}[{i}]", depth + 1)
    elif hasattr(value, "__dict__"):
        yield from walk({k: v for k, v in vars(value).items() if not k.startswith("_")}, path,
                        depth + 1)


def is_array(value: Any) -> bool:
    return _is_tensor(value) or type(value).__name__ == "ndarray"


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_image(value: Any) -> bool:
    return type(value).__module__.startswith("PIL.") and hasattr(value, "tobytes")


def save(value: Any, path: str) -> list[dict[str, Any]]:
    """Writes the samples to a file and returns what describes them."""
    items: list[dict[str, Any]] = []
    with open(path, "wb") as f:
        for place, found in walk(value):
            if len(items) == MOST_ITEMS:
                break
            described, samples = _item(found)
            items.append({"path": place, **described, "offset": f.tell(), "count": len(samples)})
            f.write(samples.tobytes())
    return items


def _item(value: Any) -> tuple[dict[str, Any], array.array]:
    if isinstance(value, (str, bytes)):
        raw = value.encode(errors="replace") if isinstance(value, str) else value
        return {"kind": "text", "shape": [len(value)], "digest": _digest(raw)}, array.array("d")
    if isinstance(value, (bool, int, float)):
        kind = "float" if isinstance(value, float) else "int"
        return ({"kind": kind, "shape": [], "digest": repr(value)},
                array.array("d", [float(value)]))
    if is_image(value):
        raw = value.tobytes()
        step = max(1, -(-len(raw) // MOST_SAMPLES))
        return ({"kind": "image", "shape": [*value.size, value.mode], "digest": _digest(raw)},
                array.array("d", list(raw[::step])))
    return _tensor(value) if _is_tensor(value) else _ndarray(value)


def _tensor(t: Any) -> tuple[dict[str, Any], array.array]:
    torch = sys.modules["torch"]
    t = t.detach()
    if t.layout is not torch.strided or t.is_quantized:
        return {"kind": "other", "shape": list(t.shape), "digest": ""}, array.array("d")
    if t.is_complex():
        t = torch.view_as_real(t)
    real = t.is_floating_point()
    kind = "image" if t.dtype == torch.uint8 and t.dim() >= 3 else "float" if real else "int"
    flat = t.contiguous().flatten()
    digest = ""
    if flat.numel() * flat.element_size() <= MOST_DIGEST:
        raw = flat.cpu()
        digest = _digest(bytes(raw.view(torch.uint8).numpy().data) if _numpy(raw) else
                         str(raw.double().tolist()).encode())
    step = max(1, -(-flat.numel() // MOST_SAMPLES))
    return ({"kind": kind, "shape": list(t.shape), "dtype": str(t.dtype), "digest": digest},
            array.array("d", flat[::step].double().cpu().tolist()))


def _numpy(t: Any) -> bool:
    try:
        t[:0].numpy() if t.dtype != sys.modules["torch"].bfloat16 else None
        return t.numel() > 0
    except Exception:  # torch without numpy
        return False


def _ndarray(a: Any) -> tuple[dict[str, Any], array.array]:
    if a.dtype.kind not in "buif":
        return {"kind": "other", "shape": list(a.shape), "digest": ""}, array.array("d")
    kind = "image" if str(a.dtype) == "uint8" and a.ndim >= 3 else (
        "float" if a.dtype.kind == "f" else "int")
    flat = a.reshape(-1)
    step = max(1, -(-flat.size // MOST_SAMPLES))
    digest = _digest(flat.tobytes()) if a.nbytes <= MOST_DIGEST else ""
    return ({"kind": kind, "shape": list(a.shape), "dtype": str(a.dtype), "digest": digest},
            array.array("d", flat[::step].astype("float64").tolist()))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:24]
