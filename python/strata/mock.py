"""Inputs made up from a signature of timing_io_signature.json: valid ones, for running a stage
alone.

    found = json.load(open("timing_io_signature.json"))["stages"]["vae_decode"]["signatures"][0]
    out = vae.decode(**strata.mock.inputs(found))
"""
from __future__ import annotations

import dataclasses
import importlib
from typing import Any

MAKERS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def inputs(signature: dict[str, Any], device: str | None = None, seed: int = 0) -> dict[str, Any]:
    """Arguments by name. `device` takes the place of the devices recorded."""
    from strata._pipeline.single_call import Maker
    maker = Maker(seed, device)
    return {name: build(d, maker) for name, d in signature["inputs"].items()}


def build(d: dict[str, Any], maker: Any = None) -> Any:
    """The value a description stands for; ValueError for what cannot be made up."""
    if maker is None:
        from strata._pipeline.single_call import Maker
        maker = Maker()
    kind = d["kind"]
    if kind == "value":
        return _word(d)
    if kind in MAKERS:
        return _items(d, maker)
    if kind == "dict":
        return _dict(d, maker)
    if kind == "dataclass":
        return _dataclass(d, maker)
    if kind == "tensor":
        return maker.tensor(d["shape"], d["dtype"], d["device"], **tensor_options(d))
    if kind in ("dtype", "device"):
        import torch
        return getattr(torch, d["value"]) if kind == "dtype" else torch.device(
            maker.device or d["value"])
    if kind == "generator":
        return maker.generator(d["device"])
    raise ValueError(f"a {d.get('type', kind)} cannot be made up from its signature")


def tensor_options(d: dict[str, Any]) -> dict[str, Any]:
    """What a tensor's description says beyond shape, type and device, as Maker.tensor takes it."""
    options: dict[str, Any] = {}
    if d.get("stride") and not _is_contiguous(d["shape"], d["stride"]):
        options["stride"] = d["stride"]
    if "values" in d:
        options["values"] = d["values"]
    elif "range" in d:
        options["low"], options["high"] = d["range"]
    if d.get("requires_grad"):
        options["grad"] = True
    for key in ("layout", "stored"):
        if key in d:
            options[key] = d[key]
    return options


def _is_contiguous(shape: list[int], stride: list[int]) -> bool:
    step = 1
    for n, s in zip(reversed(shape), reversed(stride)):
        if n != 1 and s != step:
            return False
        step *= n
    return True


def _items(d: dict[str, Any], maker: Any) -> Any:
    _check_whole(d)
    items = [build(item, maker) for item in d["items"]]
    if "type" in d:  # a named tuple, or torch.Size
        made = find(d["type"])
        return getattr(made, "_make", made)(items)
    return MAKERS[d["kind"]](items)


def _dict(d: dict[str, Any], maker: Any) -> Any:
    _check_whole(d)
    made = {key: build(item, maker) for key, item in d["items"]}
    if "type" not in d:
        return made
    try:
        return find(d["type"])(made)
    except Exception:  # a class of its own that wants more than its content
        return made


def _dataclass(d: dict[str, Any], maker: Any) -> Any:
    kind = find(d["type"])
    asked = {f.name for f in dataclasses.fields(kind) if f.init}
    return kind(**{n: build(item, maker) for n, item in d["fields"].items() if n in asked})


def _check_whole(d: dict[str, Any]) -> None:
    if "length" in d:
        raise ValueError(f"only {len(d['items'])} of the {d['length']} items of a {d['kind']} were "
                         "recorded")


def _word(d: dict[str, Any]) -> Any:
    value = d["value"]
    return float(value) if value in ("inf", "-inf", "nan") and "cut" not in d else value


def find(name: str) -> Any:
    """The class of that full name; ValueError when it cannot be loaded."""
    words, reason = name.split("."), Exception("it has no module")
    for cut in range(len(words) - 1, 0, -1):  # a class may stand in another
        try:
            found = importlib.import_module(".".join(words[:cut]))
            for part in words[cut:]:
                found = getattr(found, part)
            return found
        except (ImportError, AttributeError) as why:
            reason = why
    raise ValueError(f"a {name} cannot be made up here: {reason}")
