"""Which parts of an object are stages, and what they are called: a diffusers pipeline by what it is
made of, anything else as strata.watch was asked. Only looks; `annotate` wraps what is found here,
`strata bench` runs it alone."""
from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from typing import Any

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
               submodules: str | Iterable[str]) -> list[Part]:
    """What strata.watch(target, *methods, name=, submodules=) stands for."""
    label = name or type(target).__name__
    parts = [(target, method, f"{label}.{method}") for method in methods]
    if not parts and not is_module(target):
        raise TypeError("strata.watch: name the methods of an object that is not a torch module")
    if not parts:
        parts.append((target, "__call__", label))
    patterns = [submodules] if isinstance(submodules, str) else list(submodules)
    for path, module in target.named_modules() if patterns else ():
        if path and any(fnmatch.fnmatchcase(path, p) for p in patterns):
            parts.append((module, "__call__", f"{label}.{path}"))
    return parts
