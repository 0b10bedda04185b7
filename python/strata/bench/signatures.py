"""timing_io_signature.json: which stages it has, and which signature of a stage to take."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from strata._base import run_files
from strata.bench import described
from strata.bench.errors import USAGE, BenchError, nearest

SCHEMA = 1
FILE = "timing_io_signature.json"


@dataclass
class Signature:
    """One way a stage was called."""

    path: str  # the stage with those around it: encode_prompt/text_encoder_forward
    found: dict[str, Any]
    index: int  # from 1, among those of the stage
    of: int

    @property
    def stage(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def inputs(self) -> dict[str, Any]:
        return self.found["inputs"]

    def impossible(self) -> list[str]:
        """Arguments that cannot be generated."""
        return [name for name, d in self.inputs.items() if _has_objects(d)]


def _has_objects(d: dict[str, Any]) -> bool:
    if d["kind"] == "object" or "length" in d:
        return True
    inner = [v for _, v in d["items"]] if d["kind"] == "dict" else d.get("items", [])
    return any(_has_objects(v) for v in [*inner, *d.get("fields", {}).values()])


class SignatureFile:
    """What a run recorded about the inputs of its stages."""

    def __init__(self, path: str) -> None:
        if os.path.isdir(path):
            path = os.path.join(path, FILE)
        self.path = path
        self.folder = os.path.dirname(os.path.abspath(path))
        self.stages = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            with run_files.open_found(self.path) as f:
                content = json.load(f)
        except OSError as why:
            raise BenchError(f"{self.path}: {why.strerror}. `strata run -- python pipe.py` writes one "
                             "into the run's folder.") from why
        except (ValueError, RecursionError) as why:
            raise BenchError(f"{self.path}: not JSON: {why}") from why
        if not isinstance(content, dict) or not isinstance(content.get("stages"), dict):
            raise BenchError(f"{self.path}: not a signature file: it has no \"stages\". The run "
                             f"folder has one, named {FILE}.")
        schema = content.get("schema")
        if schema != SCHEMA:
            raise BenchError(f"{self.path}: written in version {schema} of the format, but this strata "
                             f"reads version {SCHEMA}. Record the run again with this strata, or use "
                             "the one that wrote it.")
        wrong = described.problem(content["stages"])
        if wrong:
            raise BenchError(f"{self.path}: not a signature file: {wrong}")
        return content["stages"]

    def names(self) -> list[str]:
        """The names of all stages, without those around them."""
        return [path.rsplit("/", 1)[-1] for path in self.stages]

    def of_stage(self, name: str) -> list[Signature]:
        """All signatures of a stage given by name or path, the most frequent first."""
        paths = [p for p in self.stages if p == name or p.rsplit("/", 1)[-1] == name]
        if not paths:
            raise BenchError(f"{self.path} has no stage {name!r}. "
                             f"{nearest(name, [*self.stages, *self.names()])} --list shows all. "
                             "Only functions and modules have inputs: a `with strata.stage(...)` "
                             "block has none.", USAGE)
        found = [(p, s) for p in paths for s in self.stages[p].get("signatures", [])]
        found.sort(key=lambda pair: -pair[1].get("count", 0))
        return [Signature(p, s, i + 1, len(found)) for i, (p, s) in enumerate(found)]

    def choose(self, name: str, which: str | None) -> list[Signature]:
        """The signatures asked for: a number, "all", or the most frequent."""
        found = self.of_stage(name)
        if which is None or which == "all":
            return found if which else found[:1]
        if not which.isdigit() or not 1 <= int(which) <= len(found):
            raise BenchError(f"--signature {which}: {name} has signatures 1 to {len(found)}", USAGE)
        return [found[int(which) - 1]]


def brief(d: dict[str, Any]) -> str:
    """A description in a few characters: bf16[1, 4096, 64], 3, 'euler', [2 items]."""
    kind = d["kind"]
    if kind == "tensor":
        short = d["dtype"].replace("bfloat", "bf").replace("complex", "c").replace(
            "uint", "u").replace("int", "i").replace("float", "f")
        return f"{short}{d['shape']}"
    if kind == "value":
        return repr(d["value"]) if not isinstance(d["value"], float) else f"{d['value']:.4g}"
    if kind in ("dtype", "device"):
        return d["value"]
    if kind == "object":
        return d["type"].rsplit(".", 1)[-1]
    return f"{kind}({len(d.get('items', d.get('fields', [])))})"
