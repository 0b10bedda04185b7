"""Which parts of an object are stages, and what they are called: a diffusers pipeline by what it is
made of, anything else as strata.watch was asked. Only looks; `annotate` wraps what is found here,
`strata bench` runs it alone."""
from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from typing import Any

from strata._base import settings
from strata._record.call_state import is_module

# Components of a diffusers pipeline, by the beginning of their name.
CALLED = ("transformer", "unet", "prior", "controlnet", "text_encoder", "image_encoder", "decoder",
          "connectors", "vocoder")
CODECS = ("vae", "vqvae", "movq", "vqgan", "audio_vae", "video_vae")
OWN_METHODS = ("encode_prompt", "encode_image")
PROCESSORS = (("image_processor", "postprocess"), ("video_processor", "postprocess_video"))

Part = tuple[Any, str, str]  # object, method ("__call__" for a module), name of the stage


def of_pipeline(pipe: Any) -> Iterator[Part]:
    """What a pipeline calls, components first."""
    for name, component in _components(pipe):
        yield from _of_component(name, component)
    for method in OWN_METHODS:
        if callable(getattr(pipe, method, None)):
            yield pipe, method, method


def _components(pipe: Any) -> Iterable[tuple[str, Any]]:
    found = getattr(pipe, "components", None)
    names = list(found) if isinstance(found, dict) else [n for n in vars(pipe) if n[0] != "_"]
    for name in names:
        component = getattr(pipe, name, None)
        if component is not None:
            yield name, component
    for name, _ in PROCESSORS:
        if name not in names and getattr(pipe, name, None) is not None:
            yield name, getattr(pipe, name)


def _of_component(name: str, component: Any) -> Iterable[Part]:
    parts = component if isinstance(component, (list, tuple)) else [component]
    for i, part in enumerate(parts):
        label = name if len(parts) == 1 else f"{name}_{i}"
        if name.startswith(CODECS) and hasattr(part, "decode"):
            yield part, "decode", f"{label}_decode"
            if hasattr(part, "encode"):
                yield part, "encode", f"{label}_encode"
        elif name.startswith(CALLED) and is_module(part):
            yield part, "__call__", f"{label}_forward"
        elif name.startswith("scheduler") and hasattr(part, "step"):
            yield part, "step", f"{label}_step"
        for processor, method in PROCESSORS:
            if name == processor and hasattr(part, method):
                yield part, method, method


def of_watched(target: Any, methods: Iterable[str], name: str | None,
               submodules: str | Iterable[str] | None) -> list[Part]:
    """What strata.watch(target, *methods, name=, submodules=) stands for. A pattern that no module of the
    target matches is reported."""
    label = name or type(target).__name__
    parts = [(target, str(method), f"{label}.{method}") for method in methods]
    if not parts and not is_module(target):
        what = "None" if target is None else f"a {type(target).__name__}"
        raise TypeError(f'{what} is not a torch module; name its methods: strata.watch(object, "method")')
    if not parts:
        parts.append((target, "__call__", label))
    for pattern in [submodules] if isinstance(submodules, str) else list(submodules or ()):
        found = [(module, "__call__", f"{label}.{path}") for path, module in _submodules(target)
                 if path and fnmatch.fnmatchcase(path, pattern)]
        if not found:
            inside = ", ".join(path for path, _ in _submodules(target) if path and "." not in path)
            settings.say(f"watch: no module of {label} matches submodules={pattern!r}"
                         + (f"; it has {inside[:200]}" if inside else "; it has none inside it"))
        parts += [part for part in found if part not in parts]
    return parts


def _submodules(target: Any) -> Iterable[tuple[str, Any]]:
    return target.named_modules() if is_module(target) else ()
