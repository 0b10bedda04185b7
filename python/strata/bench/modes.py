"""Eager and compiled alternately, on one copy of the weights: a module looks for its compiled
version in a slot of its own at every call, so switching modes is filling or emptying these
slots."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from strata.bench.errors import USAGE, BenchError, from_program

SLOT = "_compiled_call_impl"
WORTH_PCT = 5.0  # of the call's time: smaller models are left alone
COMPILE_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@dataclass(frozen=True)
class Mode:
    """eager, compile or compile:MODE."""

    name: str

    @property
    def compiles(self) -> bool:
        return self.name != "eager"

    @property
    def compile_mode(self) -> str | None:
        return self.name.partition(":")[2] or None


def is_mode(text: str) -> bool:
    """Whether it names a mode rather than an entry or a revision."""
    return text.partition(":")[0] in ("eager", "compile")


def parse(text: str) -> list[Mode]:
    """A comma-separated list."""
    found = []
    for word in text.split(","):
        kind, _, mode = word.strip().partition(":")
        if kind not in ("eager", "compile") or (mode and mode not in COMPILE_MODES) or (
                kind == "eager" and mode):
            raise BenchError(f"--modes {word.strip()}: expected eager, compile or compile:MODE with "
                             f"MODE one of {', '.join(COMPILE_MODES)}", USAGE)
        found.append(Mode(word.strip()))
    if len(set(found)) != len(found):
        raise BenchError(f"--modes {text}: a mode is listed twice", USAGE)
    return found


@contextlib.contextmanager
def outermost(found: dict[Any, float]) -> Iterator[None]:
    """While it lasts, notes which modules are called, and for how long; not those inside others."""
    import torch
    depth: list[tuple[Any, float]] = []

    def before(module: Any, inputs: Any) -> None:
        depth.append((module, time.perf_counter()))

    def after(module: Any, inputs: Any, output: Any) -> None:
        while depth:
            begun, at = depth.pop()
            if begun is module:
                break
        if not depth:
            found[module] = found.get(module, 0.0) + time.perf_counter() - at

    hooks = [torch.nn.modules.module.register_module_forward_pre_hook(before),
             torch.nn.modules.module.register_module_forward_hook(after)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def called_modules(call: Callable[[], Any]) -> list[Any]:
    """The modules a call spends its time in, which are worth compiling; the first call is skipped."""
    found: dict[Any, float] = {}
    call()
    began = time.perf_counter()
    with outermost(found):
        call()
    spent = time.perf_counter() - began
    largest = sorted(found, key=lambda m: -found[m])
    return [m for m in largest if 100 * found[m] >= WORTH_PCT * spent] or largest[:1]


class Switch:
    """The modes of some modules."""

    def __init__(self, modules: list[Any], regional: bool = False, fullgraph: bool = False) -> None:
        self.modules = modules
        self.regional = regional
        self.fullgraph = fullgraph
        self._slots: dict[str, dict[Any, Any]] = {"eager": {}}
        self._parts = {part for module in modules for part in module.modules()}
        self._as_loaded = {part: vars(part).get(SLOT) for part in self._parts}

    def add(self, mode: Mode) -> None:
        """Prepares a mode; compiling itself happens at its first call."""
        if mode.name in self._slots:
            return
        _allow_recompiles()
        self._fill({})
        for module in self.modules:
            try:
                self._compile(module, mode)
            except Exception as why:
                raise from_program(f"compiling {type(module).__name__}", why) from why
        self._slots[mode.name] = {part: vars(part)[SLOT] for part in self._parts
                                  if vars(part).get(SLOT) is not None}
        self._fill(self._as_loaded)

    def _compile(self, module: Any, mode: Mode) -> None:
        options: dict[str, Any] = {"fullgraph": self.fullgraph}
        if mode.compile_mode:
            options["mode"] = mode.compile_mode
        blocks = repeated_blocks(module) if self.regional else []
        for part in blocks or [module]:
            part.__dict__[SLOT] = compiled_call(part, **options)

    def set(self, mode: Mode) -> None:
        """The next calls run in this mode."""
        self._fill(self._slots[mode.name])

    def restore(self) -> None:
        """As the modules were given to us."""
        self._fill(self._as_loaded)

    def _fill(self, slots: dict[Any, Any]) -> None:
        for part in self._parts:
            part.__dict__[SLOT] = slots.get(part)


class Stepped:
    """A call that may replay CUDA graphs. Each is a step of its own: otherwise torch takes a later call
    for one that goes on with the results of those before, and captures it again. What an earlier call
    returned is overwritten from then on."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def __call__(self) -> Any:
        _begin_step()
        return self.call()

    def try_once(self) -> Any:
        _begin_step()
        return self.call.try_once()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.call, name)


def _begin_step() -> None:
    import torch
    torch.compiler.cudagraph_mark_step_begin()


def is_of_torch(module: Any) -> bool:
    """Whether its class is one of torch's own: Sequential, TransformerEncoder."""
    return str(type(module).forward.__module__).startswith("torch.")


def compiled_call(module: Any, **options: Any) -> Callable:
    """What goes into the slot. torch.compile passes over torch's own files, so that it compiles nothing of
    a call of its own classes: module.compile() has no effect there. torch.compile(module) puts a frame
    around it that it does compile."""
    import torch
    call = module._call_impl
    if is_of_torch(module):
        from torch._dynamo.external_utils import wrap_inline
        call = wrap_inline(call)
    return torch.compile(call, **options)


def repeated_blocks(module: Any) -> list[Any]:
    """The blocks a model repeats: those it names itself (diffusers), else the members of lists of
    modules that are of one class."""
    names = getattr(module, "_repeated_blocks", None)
    if names:
        return [part for part in module.modules() if type(part).__name__ in names]
    return [block for members in block_lists(module).values() for block in members]


def block_lists(module: Any) -> dict[str, Any]:
    """Its lists of several modules of one class, by name, but those inside of such modules."""
    import torch
    found: dict[str, Any] = {}
    for name, part in module.named_modules():
        if isinstance(part, torch.nn.ModuleList) and len(part) > 1 and len({type(m) for m in part}) == 1:
            found[name] = part
    inner = {part for members in found.values() for block in members for part in block.modules()}
    return {name: members for name, members in found.items() if members not in inner}


def _allow_recompiles() -> None:
    """Several modes of one code object are several versions of it."""
    import torch._dynamo
    config = torch._dynamo.config
    name = "recompile_limit" if hasattr(config, "recompile_limit") else "cache_size_limit"
    setattr(config, name, max(getattr(config, name), 64))
