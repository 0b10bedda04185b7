"""Inputs made up from a signature of timing_io_signature.json: valid ones, for running a stage
alone.

    found = json.load(open("timing_io_signature.json"))["stages"]["vae_decode"]["signatures"][0]
    out = vae.decode(**strata.mock.inputs(found))
"""
from __future__ import annotations

import dataclasses
import importlib
from typing import Any

MOST_INT = 2**63 - 1  # randint's end, itself excluded


def inputs(signature: dict[str, Any], device: str | None = None, seed: int = 0) -> dict[str, Any]:
    """Arguments by name. `device` takes the place of the devices recorded."""
    import torch
    generator = torch.Generator().manual_seed(seed)
    return {name: build(d, device, generator) for name, d in signature["inputs"].items()}


def build(d: dict[str, Any], device: str | None = None, generator: Any = None) -> Any:
    """The value a description stands for; ValueError for what cannot be made up."""
    kind = d["kind"]
    if kind == "tensor":
        return _tensor(d, device, generator)
    if kind == "value":
        return d["value"] if not isinstance(d["value"], str) or "cut" in d else _number(d["value"])
    if kind in ("list", "tuple", "set", "frozenset"):
        items = [build(item, device, generator) for item in d["items"]]
        if "type" in d:  # a named tuple, or torch.Size
            made = _find(d["type"])
            return getattr(made, "_make", made)(items)
        return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)
    if kind == "dict":
        return {key: build(item, device, generator) for key, item in d["items"]}
    if kind == "dataclass":
        fields = {name: build(item, device, generator) for name, item in d["fields"].items()}
        return _dataclass(d["type"], fields)
    if kind in ("dtype", "device"):
        import torch
        return getattr(torch, d["value"]) if kind == "dtype" else torch.device(device or d["value"])
    if kind == "generator":
        import torch
        return torch.Generator(device or d["device"]).manual_seed(0)
    raise ValueError(f"a {d.get('type', kind)} cannot be made up from its signature")


def _number(text: str) -> Any:
    return float(text) if text in ("inf", "-inf", "nan") else text


def _find(name: str) -> Any:
    module, _, qualified = name.rpartition(".")
    try:
        found = importlib.import_module(module)
        for part in qualified.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as why:
        raise ValueError(f"a {name} cannot be made up here: {why}") from None
    return found


def _dataclass(name: str, values: dict[str, Any]) -> Any:
    kind = _find(name)
    asked = {f.name for f in dataclasses.fields(kind) if f.init}
    return kind(**{key: value for key, value in values.items() if key in asked})


def _tensor(d: dict[str, Any], device: str | None, generator: Any) -> Any:
    """Of the same shape, layout in memory and type: normal numbers, or integers in the range seen.
    The memory is filled and then looked at by the strides, which may show a place several times:
    expanded tensors."""
    import torch
    dtype = getattr(torch, d["dtype"])
    shape, stride = d["shape"], d["stride"]
    n = [_extent(shape, stride)] if stride is not None else shape
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex64 if dtype.is_complex else torch.float32
        values = torch.randn(n, dtype=wide, generator=generator)
    else:
        low, high = d.get("range", (0, 1))
        values = torch.randint(low, min(high + 1, MOST_INT), n, generator=generator)
    values = values.to(dtype).to(device or d["device"])
    out = values.as_strided(shape, stride) if stride is not None else values
    return out.requires_grad_(d["requires_grad"]) if d["requires_grad"] else out


def _extent(shape: list[int], stride: list[int]) -> int:
    """How many elements of memory the strides reach."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * step for n, step in zip(shape, stride))
