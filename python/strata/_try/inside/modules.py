"""The parts of a program that a fix can name: components of a diffusers pipeline, the
model that generates, modules that the program calls.

A module looks for its compiled version in a slot of its own at every call. What is to happen around
its calls is put there: nothing of the program is replaced, and other modules do not notice."""
from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from strata._try.inside import places

SLOT = "_compiled_call_impl"
MAIN = "model"  # whichever part does most of the work
# Components of a diffusers pipeline that do most of the work, by the beginning of their name.
_MAIN_PARTS = ("transformer", "unet", "prior")
_MOST_LISTED = 32


def around(module: Any, wrap: Callable[[Callable, tuple, dict[str, Any]], Any]) -> None:
    """Calls of the module go through wrap(plain, args, kwargs) from now on."""
    plain = vars(module).get(SLOT) or module._call_impl

    def call(*args: Any, **kwargs: Any) -> Any:
        return wrap(plain, args, kwargs)

    object.__setattr__(module, SLOT, call)


def of_pipeline(pipe: Any) -> dict[str, Any]:
    """The modules of a diffusers pipeline by their names; for a codec, the part that is called."""
    found: dict[str, Any] = {}
    for name, part in _components(pipe).items():
        if _is_module(part):
            decoder = getattr(part, "decoder", None)
            called = decoder if hasattr(part, "decode") and _is_module(decoder) else part
            found[name] = called
    main = next((v for k, v in found.items() if k.startswith(_MAIN_PARTS)), None)
    if main is not None:
        found.setdefault(MAIN, main)
    return found


def _components(pipe: Any) -> dict[str, Any]:
    found = getattr(pipe, "components", None)
    return found if isinstance(found, dict) else {
        k: v for k, v in vars(pipe).items() if not k.startswith("_")}


def _is_module(value: Any) -> bool:
    return hasattr(value, "_call_impl") and hasattr(value, "parameters")


def reach(named: dict[str, Any], wanted: str) -> Any:
    """`unet`, `unet.mid_block` or a name of a class; None when nothing has that name."""
    name, _, rest = wanted.partition(".")
    found: Any = named.get(name)
    if found is None:
        found = next((m for m in named.values() if type(m).__name__.lower() == name.lower()), None)
    for word in rest.split(".") if rest and found is not None else ():
        found = found[int(word)] if word.isdigit() else getattr(found, word, None)
        if found is None:
            return None
    return found if found is None or _is_module(found) else None


def described(named: dict[str, Any], via: str) -> list[dict[str, Any]]:
    """What there is, for the report and for fixes that are derived from findings."""
    from strata.bench.modes import repeated_blocks
    return [{"name": name, "class": type(m).__name__, "via": via, "training": bool(m.training),
             "parameters": sum(p.numel() for p in m.parameters()), "blocks": len(repeated_blocks(m)),
             "convolutions": sum(type(layer).__name__.startswith(("Conv2d", "Conv3d", "ConvTranspose"))
                                 for layer in m.modules())}
            for name, m in list(named.items())[:_MOST_LISTED]]


class Calls:
    """Watches the calls of outermost modules for as long as a caller wants to know, at the cost of
    a function call per module; not inside what torch.compile makes."""

    def __init__(self, torch: Any, seen: Callable[[Any], None]) -> None:
        self.torch = torch
        self.owner = torch.nn.Module
        self.plain = self.owner.__call__
        inside, compiling, plain = threading.local(), torch.compiler.is_compiling, self.plain

        @functools.wraps(plain)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if compiling() or getattr(inside, "now", False):
                return plain(module, *args, **kwargs)
            inside.now = True
            try:
                seen(module)
                return plain(module, *args, **kwargs)
            finally:
                inside.now = False

        self.ours = call
        self.owner.__call__ = call

    def stop(self) -> None:
        """As it was."""
        if self.owner.__call__ is self.ours:
            self.owner.__call__ = self.plain


class Targets:
    """The modules that fixes wait for. `found(fix, module)` is called once for each."""

    def __init__(self, fixes: list[Any], found: Callable[[Any, Any, str], None], main: str = "") -> None:
        self.waiting = [f for f in fixes if f.module]
        self._found = found
        self.main = main  # what the program calls the module that does most of the work, if that is known

    def offer(self, named: dict[str, Any], owner: str = "") -> None:
        """These modules exist, and are about to be used."""
        for fix in list(self.waiting):
            module = reach(named, fix.module)
            if module is not None:
                self.waiting.remove(fix)
                self._found(fix, module, _written(named, module, fix.module, owner))

    def offer_called(self, module: Any) -> None:
        """The program calls a module of its own."""
        if not self.waiting or not any(True for _ in module.parameters()):
            return
        name = places.name_of(module)
        named = {type(module).__name__: module}
        if not self.main or self.main == (name or type(module).__name__):
            named[MAIN] = module
        if name:
            named[name] = module
        self.offer(named, "")


def _written(named: dict[str, Any], module: Any, wanted: str, owner: str) -> str:
    """How the user's code reaches the module: `pipe.unet`, `model.layers`."""
    first, _, rest = wanted.partition(".")
    top = reach(named, first)
    name = next((k for k, v in named.items() if v is top and k != MAIN and k != type(v).__name__),
                "")
    if not name:
        name = places.name_of(top) or MAIN
    if owner:
        name = f"{owner}.{name}"
    if rest:
        name += "." + rest
    elif type(module).__name__.endswith("Decoder") and not name.endswith("decoder") and owner:
        name += ".decoder"
    return name
