"""What a call depends on besides its arguments: torch's modes, and the object it is made on. For a
scheduler that is its place in the schedule, without which its step cannot be run alone; for a module
only what makes it behave differently: hooks, training."""
from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from strata._record import held

MOST_VALUES = 4096  # elements of a tensor of an object's state
MOST_ATTRIBUTES = 128


def is_module(value: Any) -> bool:
    """Whether it is a torch.nn.Module; torch is not loaded for the answer."""
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.nn.Module)


def mode() -> tuple[Any, dict[str, Any]]:
    """(key, description) of torch's modes: {"grad": true, "inference": false, "autocast":
    {"cuda": "bfloat16"}}; nothing without torch."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "is_inference_mode_enabled"):
        return (), {}
    grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    autocast = {}
    if torch._C._is_any_autocast_enabled():
        for kind in ("cuda", "cpu", "xpu"):
            if torch.is_autocast_enabled(kind):
                autocast[kind] = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
    key = (grad, inference, tuple(autocast.items()))
    return key, {"grad": grad, "inference": inference, "autocast": autocast}


def describe(owner: Any, value: Callable[[str, Any], dict[str, Any]]) -> dict[str, Any]:
    """The state of an object; `value` describes one attribute, given its name. Empty when there is none."""
    if owner is None or isinstance(owner, type):
        return {}
    kind = held.type_name(type(owner))
    if is_module(owner):
        return {"type": kind, "training": held.attributes(owner).get("training") is True,
                "hooks": hooks(owner)}
    attributes = {}
    for name, found in list(held.attributes(owner).items())[:MOST_ATTRIBUTES]:
        if is_module(found) or callable(found):
            continue
        described = value(name, found)
        if _is_plain(described):
            attributes[name] = described
    return {"type": kind, "attributes": attributes}


def _is_plain(d: dict[str, Any]) -> bool:
    """Whether a description holds the value itself, not only its shape."""
    kind = d["kind"]
    if kind == "tensor":
        return "values" in d
    if kind in ("list", "tuple", "set", "frozenset"):
        return "length" not in d and "type" not in d and all(_is_plain(i) for i in d["items"])
    if kind == "dict":
        return "length" not in d and "type" not in d and all(_is_plain(v) for _, v in d["items"])
    return kind in ("value", "dtype", "device") and "cut" not in d and "hidden" not in d


def _inside(module: Any) -> Iterable[Any]:
    """The module and those in it, each once; the program may have methods of its own for that."""
    seen, left = {id(module)}, [module]
    while left:
        part = left.pop()
        yield part
        for inner in _values(held.attributes(part).get("_modules")):
            if is_module(inner) and id(inner) not in seen:
                seen.add(id(inner))
                left.append(inner)


def _values(found: Any) -> list[Any]:
    return list(dict.values(found)) if issubclass(type(found), dict) else []


def _hook_name(hook: Any) -> str:
    if type(hook) is types.MethodType:
        hook = hook.__func__
    if type(hook) is types.FunctionType or type(hook) is types.BuiltinFunctionType:
        return hook.__qualname__
    return held.type_name(type(hook)).rpartition(".")[2]


def hooks(module: Any) -> dict[str, int]:
    """How many hooks of what kind the module and those inside it have: offloading, caching."""
    found: dict[str, int] = {}

    def count(name: str) -> None:
        found[name] = found.get(name, 0) + 1

    for part in _inside(module):
        stored = held.attributes(part)
        for name in ("_forward_pre_hooks", "_forward_hooks"):
            for hook in _values(stored.get(name)):
                count(_hook_name(hook))
        if "_hf_hook" in stored:
            count(_hook_name(stored["_hf_hook"]))
        registered = held.attributes(stored.get("_diffusers_hook")).get("hooks")
        for name in list(registered) if type(registered) is dict else []:
            count(str(name))
    return found
