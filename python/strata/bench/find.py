"""The stage in the program: the function or method that a stage's name stands for, in what the entry
returned. Names come from decorators, strata.watch and strata.annotate_pipeline; where a pipeline was
annotated from outside, from the rules by which that is done."""
from __future__ import annotations

import collections
import importlib
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from strata._pipeline import parts
from strata._record import call_state, stage_owners
from strata.bench.errors import USAGE, BenchError, from_program, nearest

MOST_OBJECTS = 50_000


@dataclass
class Entry:
    """module:name, loaded."""

    text: str
    module: Any
    value: Any  # what the name stands for
    calls: bool  # whether it is a factory

    @property
    def expression(self) -> str:
        """How a script gets what `load` returns."""
        name = f"{self.module.__name__}.{self.text.partition(':')[2]}"
        return f"{name}()" if self.calls else name

    def load(self) -> Any:
        """The pipeline, module or callable."""
        if not self.calls:
            return self.value
        try:
            return self.value()
        except Exception as why:
            if isinstance(why, TypeError) and "positional argument" in str(why):
                raise BenchError(f"--entry {self.text} needs arguments; name a function without "
                                 "arguments that returns the pipeline", USAGE) from why
            raise from_program(f"in --entry {self.text}", why) from why


def entry(text: str) -> Entry:
    """Loads what `module:name` stands for; modules are found from the current folder."""
    module_name, colon, name = text.partition(":")
    if not colon or not module_name or not name:
        raise BenchError(f"--entry {text}: expected MODULE:NAME, such as my_pipe:load", USAGE)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    module_name = module_name.removesuffix(".py").replace("/", ".")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as why:
        if why.name is not None and not module_name.startswith(why.name):
            raise BenchError(f"--entry {text}: {module_name} needs {why.name}, which this Python "
                             f"({sys.executable}) does not have; choose another with --python") from why
        raise BenchError(f"--entry {text}: there is no module {module_name!r} here or in this Python. "
                         "Run it from the folder of the module, or set PYTHONPATH.",
                         USAGE) from why
    except Exception as why:
        raise from_program(f"while loading {module_name}", why) from why
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            known = [n for n in vars(value) if not n.startswith("_")] if hasattr(
                value, "__dict__") else []
            raise BenchError(f"--entry {text}: {module_name} has no {part!r}. "
                             f"{nearest(part, known)}", USAGE)
        value = getattr(value, part)
    return Entry(text, module, value, inspect.isroutine(value) or inspect.isclass(value))


@dataclass
class Target:
    """What a stage calls."""

    fn: Callable
    owner: Any  # the object whose state it depends on, None for a function
    expression: str | None  # in terms of `root`, or of its module; None when there is no such way
    is_call: bool = False  # the owner itself is called: a module

    @property
    def described(self) -> str:
        kind = type(self.owner).__name__ if self.owner is not None else "function"
        return f"{self.expression or getattr(self.fn, '__qualname__', 'a module')} ({kind})"


def walk(root: Any, name: str = "root") -> Iterator[tuple[str, Any]]:
    """Everything reachable from an object, nearest first, with the expression that reaches it."""
    waiting = collections.deque([(name, root)])
    seen = {id(root)}
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        path, value = waiting.popleft()
        yield path, value
        for step, inner in _inside(value):
            if id(inner) not in seen and _is_open(inner):
                seen.add(id(inner))
                waiting.append((path + step, inner))


def _is_open(value: Any) -> bool:
    """Whether there may be parts of the program in it."""
    closed = (str, bytes, int, float, type, type(None), types.ModuleType, types.FunctionType,
              types.MethodType, types.BuiltinFunctionType)
    torch = sys.modules.get("torch")
    return not isinstance(value, closed) and not (torch and isinstance(value, torch.Tensor))


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in value.items()
                    if isinstance(key, (str, int)))
        return
    if isinstance(value, (list, tuple)):
        yield from ((f"[{i}]", item) for i, item in enumerate(value))
        return
    if call_state.is_module(value):
        for child, module in value.named_children():
            yield f"[{child}]" if child.isdigit() else f".{child}", module
    for key, item in list(getattr(value, "__dict__", {}).items()):
        if key.isidentifier() and not key.startswith("_"):
            yield f".{key}", item


def target(root: Any, name: str, function: str | None = None, path: str | None = None) -> Target:
    """The stage `name`; `function` is what was called when it was recorded, `path` what the user
    says it is."""
    if path is not None:
        return _by_path(root, path)
    for look in (_noted, _pipeline, _watched):
        found = look(root, name)
        if found is not None:
            return found
    found = (_by_function(root, function) or _itself(root, function)
             or _noted(root, name, anywhere=True))
    if found is not None:
        return found
    _ask_for_target(root, name, function)
    known = [*stage_owners.names(), *(label for *_, label in _pipeline_parts(root))]
    raise BenchError(f"no stage {name!r} in what the entry returned ({type(root).__name__}). "
                     f"{nearest(name, known)} Or name it with --target PATH, such as "
                     "--target model.blocks[0] or --target vae.decode", USAGE)


def _by_path(root: Any, path: str) -> Target:
    try:
        value = eval(f"root.{path}" if path[0] not in "[." else f"root{path}", {"root": root})
    except Exception as why:
        raise BenchError(f"--target {path}: {why}", USAGE) from why
    if not callable(value):
        raise BenchError(f"--target {path} is a {type(value).__name__} and cannot be called", USAGE)
    expression = f"root.{path}" if path[0] not in "[." else f"root{path}"
    owner = getattr(value, "__self__", value if call_state.is_module(value) else None)
    return Target(value, owner, expression, call_state.is_module(value))


def _method(root: Any, owner: Any, method: str) -> Target:
    """A method of an object, called as the program calls it."""
    expression = next((path for path, value in walk(root) if value is owner), None)
    if method == "__call__":
        return Target(owner, owner, expression, True)
    bound = getattr(owner, method)
    inner = getattr(bound, "inner", bound)  # put there by an annotation: what is under it
    return Target(inner, owner, f"{expression}.{method}" if expression else None)


def _noted(root: Any, name: str, anywhere: bool = False) -> Target | None:
    """What a stage of that name was put on, in what the entry returned or else anywhere."""
    for found, method in stage_owners.found(name):
        made = _method(root, found, method) if method else _function(root, found)
        if made is not None and (made.expression is not None or anywhere):
            return made
    return None


def _function(root: Any, fn: Callable) -> Target | None:
    """A decorated function: its own, or a method of something in the pipeline."""
    if "." not in fn.__qualname__:
        return Target(fn, None, f"{fn.__module__}.{fn.__qualname__}")
    for path, value in walk(root):
        method = getattr(type(value), fn.__name__, None)
        if method is not None and inspect.unwrap(method) is fn:
            return Target(types.MethodType(fn, value), value, f"{path}.{fn.__name__}")
    return None


def _pipeline_parts(root: Any) -> Iterator[parts.Part]:
    if root is None or not hasattr(root, "__dict__"):
        return
    try:
        yield from parts.of_pipeline(root)
    except Exception:  # an object that only looks like one
        return
    if callable(root) and isinstance(getattr(root, "components", None), dict):
        yield root, "__call__", "pipeline_call"


def _pipeline(root: Any, name: str) -> Target | None:
    for owner, method, label in _pipeline_parts(root):
        if label == name:
            return _method(root, owner, method)
    return None


def _watched(root: Any, name: str) -> Target | None:
    """Class, Class.method or Class.path.to.module: the names that strata.watch chooses itself."""
    kind, _, rest = name.partition(".")
    for _, value in walk(root):
        if type(value).__name__ != kind:
            continue
        if not rest:
            return _method(root, value, "__call__") if callable(value) else None
        if call_state.is_module(value) and rest in dict(value.named_modules()):
            return _method(root, value.get_submodule(rest), "__call__")
        if callable(getattr(value, rest, None)):
            return _method(root, value, rest)
    return None


def _owner(root: Any, function: str | None) -> tuple[str, Any, str] | None:
    """The one object in the pipeline of the class whose method was recorded: its path, itself, the
    method."""
    if not isinstance(function, str) or "." not in function:
        return None
    kind, method = function.rsplit(".", 1)
    owners = [(path, value) for path, value in walk(root)
              if f"{type(value).__module__}.{type(value).__qualname__}" == kind]
    return (*owners[0], method) if len(owners) == 1 else None


def _by_function(root: Any, function: str | None) -> Target | None:
    """The module whose forward was recorded. No other method is called because a signature, which
    may come from a stranger, says so: a model has methods that load code from elsewhere."""
    found = _owner(root, function)
    if found is None or found[2] != "forward" or not call_state.is_module(found[1]):
        return None
    return _method(root, found[1], "__call__")


def _ask_for_target(root: Any, name: str, function: str | None) -> None:
    """Raises BenchError with the --target that a signature proposes, if it is one."""
    found = _owner(root, function)
    if found is None or not callable(getattr(type(found[1]), found[2], None)):
        return
    path = f"{found[0]}.{found[2]}".removeprefix("root.")
    raise BenchError(f"no stage {name!r} in what the entry returned ({type(root).__name__}). The "
                     f"signature says that it is {function}: if that is right, --target {path} "
                     "calls it", USAGE)


def _itself(root: Any, function: str | None) -> Target | None:
    """What the entry returned is the stage: a function, or a callable that is nothing else."""
    if inspect.isroutine(root):
        return Target(root, getattr(root, "__self__", None), "root")
    if call_state.is_module(root) and (function or "").endswith(".forward"):
        return Target(root, root, "root", True)
    return None
