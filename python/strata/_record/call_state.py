"""What a call depends on besides its arguments: torch's modes, and the object it is made on. For a
scheduler that is its place in the schedule, without which its step cannot be run alone; for a module
only what makes it behave differently: hooks, training."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

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
    kind = f"{type(owner).__module__}.{type(owner).__qualname__}"
    if is_module(owner):
        return {"type": kind, "training": owner.training, "hooks": hooks(owner)}
    attributes = {}
    try:
        held_in = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        held_in = {}
    for name, held in list(held_in.items())[:MOST_ATTRIBUTES]:
        if is_module(held) or callable(held):
            continue
        described = value(name, held)
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


def hooks(module: Any) -> dict[str, int]:
    """How many hooks of what kind the module and those inside it have: offloading, caching."""
    found: dict[str, int] = {}

    def count(hook: Any) -> None:
        name = type(hook).__name__ if not hasattr(hook, "__qualname__") else hook.__qualname__
        found[name] = found.get(name, 0) + 1

    for part in module.modules():
        for hook in [*part._forward_pre_hooks.values(), *part._forward_hooks.values()]:
            count(hook)
        if "_hf_hook" in vars(part):
            count(part._hf_hook)
        registry = vars(part).get("_diffusers_hook")
        for name in getattr(registry, "hooks", {}):
            found[name] = found.get(name, 0) + 1
    return found
