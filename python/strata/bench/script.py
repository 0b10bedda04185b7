"""profile_{stage}.py: a program that generates the inputs, loads the pipeline, calls the stage and
measures it. Its first half is written here, in plain Python one can read and change; its second half
is the text of strata/_pipeline/single_call.py. It needs torch and the user's module, not strata.

What a signature says goes into the program as literals only: repr() of what JSON can hold, the names
of torch's own dtypes, and classes that mock.find has found. The signature may come from a stranger."""
from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Sequence
from typing import Any

import torch

from strata import mock
from strata._base import safetensors
from strata._pipeline import single_call
from strata.bench.find import Entry, Target
from strata.bench.signatures import Signature

HEAD = '''"""Runs the stage STAGE alone, with inputs like those of the recorded run, and measures it.

    python {file} [--iters N] [--warmup N] [--trace FILE.json.gz] [--json]"""
import os
import sys

os.environ.setdefault("STRATA", "off")
sys.path[:0] = {paths!r}

STAGE = {stage!r}  # signature {index} of {of} of {path!r}
SEED = {seed}
MODE = {mode!r}  # of torch, as recorded
DEVICE = {device!r}
TIMES = {times!r}  # milliseconds, as `strata bench` measured them
STORED = {stored!r}  # real inputs, if they were given


def load():
    """Returns the pipeline that contains the stage."""
    import {module}
    return {entry}


def find(root):
    """(what to call, the object whose state it depends on)."""
{find}


def inputs(make):
    """The arguments, by name."""
    return {{
{inputs}    }}


def state(make):
    """The state of the object before the call."""
    return {{
{state}    }}


# What follows is the same in every such script.
'''

TAIL = '''

def main():
    import argparse
    import json
    parser = argparse.ArgumentParser(description=f"runs the stage {STAGE} alone")
    parser.add_argument("--iters", type=int, help="number of measurements (default: 5 seconds of them)")
    parser.add_argument("--warmup", type=int, help="warm-up calls (default: until times are steady)")
    parser.add_argument("--trace", help="write a timeline of one more call here (.json.gz)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    root = load()
    fn, owner = find(root)
    make = Maker(SEED)
    if STORED:
        make.stored = read(STORED)[0]
    call = Alone(fn, inputs(make), owner, state(make), SEED, make.generators)
    watch = Stopwatch(DEVICE)
    with modes(MODE):
        call.try_once()
        calls, steady = warm_up(watch, call, options.warmup)
        with marked():
            samples = measure(watch, call, options.iters, 5.0)
        if options.trace:
            record(call, STAGE).export_chrome_trace(options.trace)
    found = {key: statistics.median(s[key] for s in samples) for key in samples[0]}
    if options.json:
        print(json.dumps({"stage": STAGE, "calls": len(samples), "warmup_calls": calls + 1,
                          "steady": steady, "median": found, "recorded": TIMES}))
        return
    print(f"{STAGE}: {len(samples)} measurements after {calls + 1} calls of warm-up"
          + ("" if steady else " (not steady)"))
    for key, value in found.items():
        before = f"   strata bench: {TIMES[key]:.3f} ms" if key in TIMES else ""
        print(f"  {key.removesuffix('_ms'):5s} {value:10.3f} ms{before}")


@contextlib.contextmanager
def marked():
    """Marks the measured calls for Nsight: a range, and the start for --profile-from-start off."""
    if torch.device(DEVICE).type != "cuda":
        yield
        return
    torch.cuda.profiler.start()
    torch.cuda.nvtx.range_push(STAGE)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()
        torch.cuda.profiler.stop()


if __name__ == "__main__":
    main()
'''


def code(d: dict[str, Any], types: Sequence[str] = ()) -> str:
    """A description as the Python expression that generates the value."""
    kind = d["kind"]
    if kind == "tensor":
        options = "".join(f", {k}={v!r}" for k, v in mock.tensor_options(d).items())
        return f"make.tensor({tuple(d['shape'])!r}, {d['dtype']!r}, {d['device']!r}{options})"
    if kind == "value":
        infinite = d["value"] in ("inf", "-inf", "nan") and "cut" not in d
        return f"float({d['value']!r})" if infinite else repr(d["value"])
    if kind in ("list", "tuple", "set", "frozenset"):
        items = ", ".join(code(item, types) for item in d["items"])
        if mock.is_own_tuple(d):
            kind = _imported(mock.find(d["type"], mock.is_tuple, types))
            return f"getattr({kind}, '_make', {kind})([{items}])"
        return f"[{items}]" if kind == "list" else f"{kind}([{items}])"
    if kind == "dict":
        return "{" + ", ".join(f"{k!r}: {code(v, types)}" for k, v in d["items"]) + "}"
    if kind == "dataclass":
        made = mock.find(d["type"], dataclasses.is_dataclass, types)
        asked = {f.name for f in dataclasses.fields(made) if f.init}
        fields = ", ".join(f"{k}={code(v, types)}" for k, v in d["fields"].items() if k in asked)
        return f"{_imported(made)}({fields})"
    if kind == "dtype":
        return str(single_call.of_torch(d["value"], torch.dtype))
    if kind == "device":
        return f"torch.device(make.device or {d['value']!r})"
    if kind == "generator":
        return f"make.generator({d['device']!r})"
    raise ValueError(f"a {d.get('type', kind)} cannot be generated")


def _imported(kind: type) -> str:
    return f"__import__({kind.__module__!r}, fromlist=['x']).{kind.__qualname__}"


def _lines(items: dict[str, dict[str, Any]], types: Sequence[str]) -> str:
    return "".join(f"        {name!r}: {code(d, types)},\n" for name, d in items.items())


def _finder(target: Target) -> str:
    if target.owner is None and not (target.expression or "").startswith("root"):
        module = (target.expression or "").rpartition(".")[0]
        return f"    import {module}\n    return {target.expression}, None"
    if target.is_call:
        return f"    return {target.expression}, None"
    owner = (target.expression or "").rpartition(".")[0] if target.owner is not None else "None"
    return f"    return {target.expression}, {owner or 'None'}"


def paths(entry: Entry) -> list[str]:
    """Where the user's module is found."""
    file = getattr(entry.module, "__file__", None)
    if not file:
        return []
    folder = os.path.dirname(os.path.abspath(file))
    up = entry.module.__name__.count(".") + (os.path.basename(file) == "__init__.py")
    for _ in range(up):
        folder = os.path.dirname(folder)
    return [folder]


def moved(d: Any, device: str | None) -> Any:
    """The description with another device."""
    if device is None:
        return d
    if isinstance(d, list):
        return [moved(v, device) for v in d]
    if not isinstance(d, dict):
        return d
    return {k: device if k == "device" and isinstance(v, str) else
            device if k == "value" and d.get("kind") == "device" else moved(v, device)
            for k, v in d.items()}


def text(entry: Entry, target: Target, signature: Signature, facts: dict[str, Any]) -> str:
    """The whole script. `facts`: file, device, seed, times, types, inputs and state as used."""
    if target.expression is None:
        raise ValueError("the stage's object is not reachable from what the entry returned")
    head = HEAD.format(
        stage=signature.stage, file=facts["file"], index=signature.index, of=signature.of,
        path=signature.path, paths=paths(entry), seed=facts["seed"],
        mode=signature.found.get("mode", {}), device=facts["device"], times=facts["times"],
        stored=facts["stored"],
        module=entry.module.__name__, entry=entry.expression, find=_finder(target),
        inputs=_lines(facts["inputs"], facts["types"]),
        state=_lines(facts["state"], facts["types"]))
    body = _without_head(single_call, "import contextlib")
    if facts["stored"]:
        body = _without_head(safetensors, "import json") + "\n\n" + body
    return head + body + TAIL


def _without_head(module: Any, first: str) -> str:
    """The text of a module from its first import on."""
    source = inspect.getsource(module)
    return source[source.index(first):]
