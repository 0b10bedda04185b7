"""Real inputs of a stage, kept for running it alone: strata.stage(name, save_inputs=True), or
STRATA_SAVE_INPUTS=a,b for stages put on from outside. The first call's arguments go to
{stage}_inputs.safetensors: every tensor, and in the file's metadata how they were arranged."""
from __future__ import annotations

import json
from typing import Any

from strata._base import settings

wanted = set(settings.words("STRATA_SAVE_INPUTS"))  # names of stages, or *
_done: set[str] = set()


def want(name: str) -> None:
    """Keeps the arguments of the next call of the stage."""
    if name not in _done:
        wanted.add(name)


def save(name: str, recorder: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """Writes the arguments of this call if the stage's are wanted and it is the first."""
    if name in _done or not (name in wanted or "*" in wanted):
        return
    _done.add(name)
    wanted.discard(name)
    try:
        _write(name, dict(recorder.named(args, kwargs)))
    except Exception as why:
        settings.say(f"cannot save the inputs of {name}: {why}")


def _write(name: str, arguments: dict[str, Any]) -> None:
    from strata._base import run_files, safetensors
    from strata._record import io_signature
    tensors: dict[str, Any] = {}
    inputs = {}
    for argument, value in arguments.items():
        inputs[argument] = io_signature.plain(value)
        _collect(inputs[argument], value, argument, tensors)
    path = run_files.claim(f"{name}_inputs.safetensors")
    if path is not None:
        safetensors.write(path, tensors, {"strata": json.dumps({"stage": name, "inputs": inputs})})


def _collect(d: dict[str, Any], value: Any, path: str, tensors: dict[str, Any]) -> None:
    """Gathers the tensors of a value under the paths that its description gets."""
    kind = d["kind"]
    if kind == "tensor" and "layout" not in d:
        d["stored"] = path
        tensors[path] = value
    elif kind in ("list", "tuple"):
        for i, (inner, item) in enumerate(zip(d["items"], value)):
            _collect(inner, item, f"{path}.{i}", tensors)
    elif kind == "dict":
        for (key, inner), item in zip(d["items"], value.values()):
            _collect(inner, item, f"{path}.{key}", tensors)
    elif kind == "dataclass":
        for field, inner in d["fields"].items():
            _collect(inner, getattr(value, field), f"{path}.{field}", tensors)
