"""What is measured: a call with everything around it that must be as it was, in one of several
variants of the program."""
from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from strata import mock
from strata._base import safetensors
from strata._pipeline import single_call
from strata._record import call_state, io_signature
from strata.bench import find
from strata.bench.errors import USAGE, BenchError, from_program, out_of_memory
from strata.bench.signatures import Signature


@dataclass
class Choice:
    """How to run a stage, beyond its name: the options that are about its inputs."""

    device: str | None = None
    seed: int = 0
    target: str | None = None
    inputs: str | None = None  # a safetensors file
    arguments: dict[str, str] = field(default_factory=dict)  # name -> module:factory
    types: tuple[str, ...] = ()  # modules whose classes the signature may have built


class Variant:
    """A call under a name. Measuring it puts its modes, modules and state in place first."""

    def __init__(self, name: str, call: Any, mode: dict[str, Any] | None = None) -> None:
        self.name = name
        self.call = call
        self.mode = mode or {}
        self.begin: Callable[[], None] = lambda: None
        self.end: Callable[[], None] = lambda: None
        self.samples: list[dict[str, float]] = []
        self.watch = single_call.Stopwatch()
        self.warmup = (0, True)
        self.result: Any = None
        self.kept: list[Any] = []  # copies of its tensors: a later call may overwrite them

    @contextlib.contextmanager
    def active(self) -> Any:
        """While it lasts, this variant is the one that runs."""
        self.begin()
        try:
            with single_call.modes(self.mode):
                yield self
        except BenchError:
            raise
        except Exception as why:
            raise from_program(f"in {self.name}", why) from why
        finally:
            self.end()

    def start(self, device: str, calls: int | None) -> None:
        """The first call, and then the warm-up."""
        self.watch = single_call.Stopwatch(device)
        with self.active():
            self.result = self.call.try_once()
            self.kept = [t.detach().clone() for t in all_tensors(_opened(self.result))]
            made, steady = single_call.warm_up(self.watch, self.call, calls)
            self.warmup = (made + 1, steady)

    def sample(self, key: str = "wall_ms") -> float:
        """One more measurement, of which one column is given back."""
        with self.active():
            found = self.watch.sample(self.call)
            if key == "gpu_ms":
                found[key] = self.watch.on_device(self.call, 1)[0]
            self.samples.append(found)
        return found[key]

    def add_device_times(self, times: int) -> None:
        """Device times to show beside the others, where they were not measured anyway."""
        with self.active():
            if self.samples and "gpu_ms" not in self.samples[0]:
                for found, ms in zip(self.samples, self.watch.on_device(self.call, times)):
                    found["gpu_ms"] = ms

    def column(self, key: str) -> list[float]:
        return [s[key] for s in self.samples if key in s]


class Stage:
    """One stage of a loaded pipeline with its inputs, ready to be called."""

    def __init__(self, root: Any, signature: Signature, choice: Choice) -> None:
        self.signature = signature
        self.choice = choice
        self.notes: list[str] = []
        self.target = find.target(root, signature.stage, signature.found.get("function"),
                                  choice.target)
        self.maker = single_call.Maker(choice.seed, choice.device)
        self.maker.types = tuple(choice.types)
        self.described = self._describe()
        self.inputs = self._build()
        self.state = self._state()
        self.device = self._device()
        self._check_device()

    def _describe(self) -> dict[str, dict[str, Any]]:
        """Descriptions of the arguments, those from a file in place of the recorded ones."""
        described = dict(self.signature.inputs)
        if self.choice.inputs is not None:
            described.update(self._from_file(described))
        return described

    def _from_file(self, recorded: dict[str, Any]) -> dict[str, Any]:
        import json
        path = str(self.choice.inputs)
        try:
            self.maker.stored, metadata = safetensors.read(path)
        except (OSError, ValueError) as why:
            raise BenchError(f"--inputs {path}: {why}. strata.stage(..., save_inputs=True) or "
                             "STRATA_SAVE_INPUTS=STAGE writes one.") from why
        if "strata" in metadata:
            saved = json.loads(metadata["strata"])
            if saved["stage"] != self.signature.stage:
                self.notes.append(f"the inputs of --inputs were saved by {saved['stage']}")
            return saved["inputs"]
        unknown = sorted(set(self.maker.stored) - set(recorded))
        if unknown:
            raise BenchError(f"--inputs {path}: {self.signature.stage} has no argument "
                             f"{unknown[0]!r}; it has {', '.join(recorded)}", USAGE)
        return {name: {**io_signature.plain(t), "stored": name, "device": recorded[name].get(
            "device", "cpu")} for name, t in self.maker.stored.items()}

    def _build(self) -> dict[str, Any]:
        made = {}
        defaults = _defaults(self.target.fn)
        for name, d in list(self.described.items()):
            if name in self.choice.arguments:
                made[name] = find.entry(self.choice.arguments[name]).load()
                continue
            try:
                made[name] = mock.build(d, self.maker)
            except ValueError as why:
                if name not in defaults:
                    raise BenchError(f"{self.signature.stage}: the argument {name} cannot be generated "
                                     f"({why}). Give it with --arg {name}=MODULE:NAME, a function "
                                     "that returns it.") from why
                self.notes.append(f"{name} ({why}) is left at its default; give it with "
                                  f"--arg {name}=MODULE:NAME")
                del self.described[name]
            except Exception as why:
                if not out_of_memory(why) and d.get("device", "cpu") != "cpu" and (
                        self.choice.device is None):
                    raise BenchError(f"{name} was on {d['device']}, which is not available here: "
                                     f"{str(why).splitlines()[0]}. Use --device cpu to run it here.") from why
                raise from_program(f"generating {name}", why) from why
        unknown = set(self.choice.arguments) - set(made)
        if unknown:
            raise BenchError(f"--arg {sorted(unknown)[0]}: {self.signature.stage} was not called with "
                             f"this argument; it has {', '.join(made)}", USAGE)
        return made

    def _state(self) -> dict[str, Any]:
        """What the object had in it, as far as it is not the same anyway."""
        recorded = self.signature.found.get("state", {}).get("attributes", {})
        owner = self.target.owner
        if owner is None or self.target.is_call:
            return {}
        kind = f"{type(owner).__module__}.{type(owner).__qualname__}"
        if self.signature.found.get("state", {}).get("type") != kind:
            return {}
        held = vars(owner)
        return {name: d for name, d in recorded.items()
                if name in held and _plain_of(held[name]) != d}

    def _device(self) -> str:
        if self.choice.device is not None:
            return self.choice.device
        for t in all_tensors(self.inputs):
            if t.device.type not in ("cpu", "meta"):
                return str(t.device)
        parameters = getattr(self.target.owner, "parameters", None)
        first = next(iter(parameters()), None) if callable(parameters) else None
        return str(first.device) if first is not None else "cpu"

    def _check_device(self) -> None:
        """The model must be where its inputs are, unless hooks bring it there."""
        owner = self.target.owner
        if not isinstance(owner, torch.nn.Module):
            return
        there = {p.device.type for p in owner.parameters()} - {"meta"}
        here = torch.device(self.device).type
        if there and here not in there and not call_state.hooks(owner):
            raise BenchError(f"{self.target.described} is on {sorted(there)[0]} and its inputs were on "
                             f"{self.device}; move it there in the entry, or choose with --device")

    def _made_state(self) -> dict[str, Any]:
        """The recorded attributes of the object; what cannot be made up stays as it is."""
        made = {}
        for name, d in list(self.state.items()):
            try:
                made[name] = mock.build(d, self.maker)
            except ValueError as why:
                self.notes.append(f"its {name} is left as it is ({why})")
                del self.state[name]
        return made

    def variant(self, name: str) -> Variant:
        """The stage as something to measure."""
        state = self._made_state()
        owner = None if self.target.is_call else self.target.owner
        if isinstance(owner, torch.nn.Module):
            owner = None  # vae.decode: what a module keeps is its weights
        call = single_call.Alone(self.target.fn, self.inputs, owner, state, self.choice.seed,
                                 self.maker.generators)
        return Variant(name, call, self.signature.found.get("mode", {}))


def _plain_of(value: Any) -> dict[str, Any]:
    return io_signature.plain(value, call_state.MOST_VALUES)


def _defaults(fn: Callable) -> set[str]:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {p.name for p in parameters if p.default is not p.empty}


def all_tensors(value: Any) -> list[Any]:
    """The tensors in a value and the containers in it, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(
        value, (list, tuple)) else ()
    return [found for v in items for found in all_tensors(v)]


def _opened(value: Any) -> Any:
    """Outputs of models are dataclasses or dictionaries of their own kinds."""
    if isinstance(value, dict) or not hasattr(value, "__dict__"):
        return value
    return dict(vars(value)) if not isinstance(value, torch.Tensor) else value


class Whole:
    """A call of the whole program: nothing to make up, nothing to put back but random numbers."""

    def __init__(self, fn: Callable, args: tuple, seed: int) -> None:
        self.alone = single_call.Alone(fn, {}, None, None, seed)
        self.alone.args = list(args)

    def __call__(self) -> Any:
        return self.alone()

    def prepare(self) -> None:
        self.alone.prepare()

    def try_once(self) -> Any:
        return self.alone.try_once()

    def restores(self) -> bool:
        return False


def whole(text: str, load: str | None, seed: int) -> Whole:
    """`module:call`, which takes nothing, or what `module:load` returns."""
    found = find.entry(text)
    fn = found.value
    if not callable(fn):
        raise BenchError(f"--entry {text} is a {type(fn).__name__} and cannot be called", USAGE)
    try:
        wanted = [p for p in inspect.signature(fn).parameters.values()
                  if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        wanted = []
    if not wanted:
        return Whole(fn, (), seed)
    if len(wanted) > 1:
        raise BenchError(f"--entry {text} needs {', '.join(p.name for p in wanted)}; a whole call "
                         "takes no argument, or what load() in the same module returns", USAGE)
    loader = load or f"{text.partition(':')[0]}:load"
    if load is None and not hasattr(sys.modules[found.module.__name__], "load"):
        raise BenchError(f"--entry {text} needs {wanted[0].name}; name the function that returns it "
                         "with --load MODULE:NAME", USAGE)
    return Whole(fn, (find.entry(loader).load(),), seed)
