"""Inputs generated from a signature of timing_io_signature.json: valid ones, for running a stage
alone.

    found = json.load(open("timing_io_signature.json"))["stages"]["vae_decode"]["signatures"][0]
    out = vae.decode(**strata.mock.inputs(found))

A signature is data, and may come from someone else: what it names is looked up in tables of torch's
dtypes and of plain containers. Dataclasses and named tuples are built only of modules that the caller
has named in `types`, and nothing is ever imported or called because a signature says so."""
from __future__ import annotations

import collections
import dataclasses
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

MAKERS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def inputs(signature: dict[str, Any], device: str | None = None, seed: int = 0,
           types: Sequence[str] = ()) -> dict[str, Any]:
    """Arguments by name. `device` takes the place of the devices recorded. `types` are modules and
    packages whose dataclasses, named tuples and dictionaries may be built."""
    from strata._pipeline.single_call import Maker
    maker = Maker(seed, device)
    maker.types = tuple(types)
    return {name: build(d, maker) for name, d in signature["inputs"].items()}


def build(d: dict[str, Any], maker: Any = None, types: Sequence[str] = ()) -> Any:
    """The value a description stands for; ValueError if it cannot be generated. `types` is for
    where no maker is given, which has its own."""
    if maker is None:
        from strata._pipeline.single_call import Maker
        maker = Maker()
        maker.types = tuple(types)
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

        from strata._pipeline.single_call import of_torch
        return of_torch(d["value"], torch.dtype) if kind == "dtype" else torch.device(
            maker.device or d["value"])
    if kind == "generator":
        return maker.generator(d["device"])
    raise ValueError(f"a {d.get('type', kind)} cannot be generated from its signature")


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
    if is_own_tuple(d):
        made = find(d["type"], is_tuple, maker.types)
        return _made(d, lambda: getattr(made, "_make", made)(items))
    return _made(d, lambda: MAKERS[d["kind"]](items))


def _made(d: dict[str, Any], make: Callable[[], Any]) -> Any:
    """A container may refuse its items: a set of lists, a size that is a text."""
    try:
        return make()
    except TypeError as why:
        raise ValueError(f"a {d.get('type', d['kind'])} cannot be generated: {why}") from why


def _dict(d: dict[str, Any], maker: Any) -> Any:
    _check_whole(d)
    made = {key: build(item, maker) for key, item in d["items"]}
    if "type" not in d:
        return made
    try:
        return find(d["type"], _is_dict, maker.types)(made)
    except Exception:  # a class that is not to be built, or wants more than its content
        return made


def _dataclass(d: dict[str, Any], maker: Any) -> Any:
    kind = find(d["type"], dataclasses.is_dataclass, maker.types)
    asked = {f.name for f in dataclasses.fields(kind) if f.init}
    return kind(**{n: build(item, maker) for n, item in d["fields"].items() if n in asked})


def _check_whole(d: dict[str, Any]) -> None:
    if "length" in d:
        raise ValueError(f"only {len(d['items'])} of the {d['length']} items of a {d['kind']} were "
                         "recorded")


def _word(d: dict[str, Any]) -> Any:
    value = d["value"]
    return float(value) if value in ("inf", "-inf", "nan") and "cut" not in d else value


def is_own_tuple(d: dict[str, Any]) -> bool:
    """Whether it stands for a named tuple, or torch.Size."""
    return d["kind"] == "tuple" and "type" in d


def is_tuple(kind: type) -> bool:
    """Of mock.find: named tuples and the like."""
    return issubclass(kind, tuple)


def _is_dict(kind: type) -> bool:
    return issubclass(kind, dict)


def find(name: str, fits: Callable[[type], Any], allowed: Sequence[str] = ()) -> type:
    """The class of that full name, where it may be built and `fits`; ValueError elsewhere."""
    found = _known(name) or _allowed(name, allowed)
    if found is None or not fits(found):
        raise ValueError(f"a {name} cannot be generated here")
    return found


def _known(name: str) -> type | None:
    """Classes that do nothing but hold what they are given."""
    if name == "collections.OrderedDict":
        return collections.OrderedDict
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    if name == "torch.Size":
        return torch.Size
    module, _, word = name.rpartition(".")
    found = vars(torch.return_types).get(word) if module == "torch.return_types" else None
    return found if isinstance(found, type) else None


def _allowed(name: str, allowed: Sequence[str]) -> type | None:
    """A class of a module that the caller has named. Only these are loaded: of what is in a package,
    what is there by then."""
    words = name.split(".")
    if not all(word.isidentifier() for word in words) or len(words) < 2:
        raise ValueError(f"a {name!r} cannot be generated: it has no name")
    if not any(name.startswith(f"{a}.") for a in allowed):
        raise ValueError(f"a {name} is made only where its module is allowed: --types "
                         f"{name.rpartition('.')[0]} on the command line, types=[...] in Python")
    for module in allowed:
        importlib.import_module(module)
    for cut in range(len(words) - 1, 0, -1):  # a class may stand in another
        found: Any = sys.modules.get(".".join(words[:cut]))
        for part in words[cut:]:
            found = vars(found).get(part) if isinstance(found, (type, type(sys))) else None
        # not something that the module has only imported
        if isinstance(found, type) and f"{found.__module__}.{found.__qualname__}" == name:
            return found
    return None
