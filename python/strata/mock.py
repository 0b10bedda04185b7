"""Inputs made up from a signature of timing_io_signature.json: valid ones, for running a stage
alone.

    found = json.load(open("timing_io_signature.json"))["stages"]["vae_decode"]["signatures"][0]
    out = vae.decode(**strata.mock.inputs(found))
"""
from __future__ import annotations

import importlib
from typing import Any


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
        return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)
    if kind == "dict":
        return {key: build(item, device, generator) for key, item in d["items"]}
    if kind == "dataclass":
        fields = {name: build(item, device, generator) for name, item in d["fields"].items()}
        return _find(d["type"])(**fields)
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
    found = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    return found


def _tensor(d: dict[str, Any], device: str | None, generator: Any) -> Any:
    """Of the same shape, layout in memory and type: normal numbers, or integers in the range seen."""
    import torch
    dtype = getattr(torch, d["dtype"])
    where = device or d["device"]
    shape = d["shape"]
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex64 if dtype.is_complex else torch.float32
        values = torch.randn(shape, dtype=wide, generator=generator).to(dtype)
    else:
        low, high = d.get("range", (0, 1))
        values = torch.randint(low, high + 1, shape, generator=generator).to(dtype)
    out = torch.empty_strided(shape, d["stride"], dtype=dtype, device=where) if d["stride"] else values
    if out is not values:
        out.copy_(values)
    return out.requires_grad_(d["requires_grad"]) if d["requires_grad"] else out
