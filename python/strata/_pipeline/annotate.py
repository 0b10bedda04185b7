"""Stages put onto objects from outside: diffusers pipelines, modules, anything with methods.

Only the object given behaves differently, not others of its class, and the handle undoes it. Copies and
pickles of the object are plain again: a copy must not run the methods of the original. Modules are wrapped
where nn.Module looks for a compiled version of the call, which is outermost: offloading hooks, forward
hooks and the compiled code are all inside the stage, and torch.compile does not see it.

What cannot be marked is left out and reported once: nothing here raises into the program."""
from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from strata._base import settings
from strata._base.extension import core
from strata._pipeline import parts
from strata._record import stage_owners
from strata._record.stage import decorate, is_compiling, wrap_function

SHOWN_NAMES = 12  # of a handle that is printed
OURS = "strata_patch"  # attribute of a call that was put in place here
MARKED = "strata_marked"  # attribute of a pipeline's call that `strata run` has wrapped


class Handle:
    """What was changed; `undo` puts it back. Also a context manager that does so at its end."""

    def __init__(self) -> None:
        self._patches: list[Any] = []

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.undo()

    def __repr__(self) -> str:
        names = list(dict.fromkeys(patch.label for patch in self._patches))
        shown = ", ".join(names[:SHOWN_NAMES]) + (", ..." if len(names) > SHOWN_NAMES else "")
        return f"<strata: {len(names)} marked: {shown}>" if names else "<strata: nothing marked>"

    def undo(self) -> None:
        """Removes all stages this handle stands for. A second time does nothing."""
        while self._patches:
            self._patches.pop().undo()


class _Method:
    """A method of one object as a stage, kept in the object's own attributes."""

    def __init__(self, owner: Any, name: str, stage: Any, inner: Callable) -> None:
        self.owner = weakref.ref(owner)
        self.name = name
        self.inner = inner
        self.uses = 1
        self.before: list[Callable[[], None]] = []
        functools.update_wrapper(self, inner)
        try:
            self.__signature__ = inspect.signature(inner)
        except (TypeError, ValueError):
            pass
        self.call = decorate(stage, inner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for action in self.before:
            action()
        return self.call(*args, **kwargs)

    def _plain(self, owner: Any) -> Callable:
        function = getattr(type(owner), self.name, None)
        return types.MethodType(function, owner) if function is not None else self.inner

    def __deepcopy__(self, memo: dict[int, Any]) -> Callable:
        owner = self.owner()
        copied = memo.get(id(owner), owner)
        return self._plain(copied)

    def __copy__(self) -> Callable:
        return self.inner

    def __reduce__(self) -> Any:
        owner = self.owner()
        if getattr(type(owner), self.name, None) is None:
            return functools.partial, (self.inner,)
        return getattr, (owner, self.name)  # the class's own, by the time it is read back


class _MethodPatch:
    """Puts a _Method in and takes it out."""

    def __init__(self, owner: Any, name: str, stage: Any) -> None:
        self.owner = owner
        self.name = name
        self.label = stage.name
        self.had_own = name in vars(owner)
        found = getattr(owner, name)
        if isinstance(found, _Method):  # another handle has put it there
            self.method = found
            found.uses += 1
            return
        self.method = _Method(owner, name, stage, found)
        object.__setattr__(owner, name, self.method)

    def holds(self) -> bool:
        return vars(self.owner).get(self.name) is self.method

    def undo(self) -> None:
        self.method.uses -= 1
        if self.method.uses or not self.holds():
            return
        if self.had_own:
            object.__setattr__(self.owner, self.name, self.method.inner)
        else:
            object.__delattr__(self.owner, self.name)


class _ModulePatch:
    """Wraps the call of a torch.nn.Module, outermost."""

    SLOT = "_compiled_call_impl"

    def __init__(self, module: Any, stage: Any) -> None:
        self.module = module
        self.stage = stage
        self.label = stage.name
        self.inner = vars(module).get(self.SLOT)
        self.wrapper: Any = None
        there = getattr(self.inner, OURS, None)
        if there is not None:  # another handle has wrapped it
            self.shared = there
            self.shared.uses += 1
            return
        self.shared = self
        self.uses = 1
        self.wrap()
        _patched.add(self)

    def wrap(self) -> None:
        inner = self.inner if self.inner is not None else self.module._call_impl
        forward = self.module.forward

        @functools.wraps(forward)
        def call(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs)

        timed = wrap_function(self.stage, call, self.module)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return inner(*args, **kwargs) if is_compiling() else timed(*args, **kwargs)

        setattr(wrapper, OURS, self)
        self.wrapper = wrapper
        object.__setattr__(self.module, self.SLOT, wrapper)

    def holds(self) -> bool:
        return vars(self.module).get(self.SLOT) is self.shared.wrapper

    def compiled_again(self) -> None:
        """module.compile() has put its own version in our place: go around it."""
        current = vars(self.module).get(self.SLOT)
        if current is not self.wrapper:
            self.inner = current
            self.wrap()

    def undo(self) -> None:
        if self.shared is not self:
            self.shared.undo()
            return
        self.uses -= 1
        if self.uses or not self.holds():
            return
        _patched.discard(self)
        if self.inner is not None:
            object.__setattr__(self.module, self.SLOT, self.inner)
        else:
            object.__delattr__(self.module, self.SLOT)


class _Patched:
    """The modules that are wrapped; while there are any, nn.Module.compile tells them."""

    def __init__(self) -> None:
        self.patches: dict[int, _ModulePatch] = {}
        self.plain_compile: Callable | None = None

    def add(self, patch: _ModulePatch) -> None:
        self.patches[id(patch.module)] = patch
        module_class = sys.modules["torch"].nn.Module
        if self.plain_compile is not None or not hasattr(module_class, "compile"):
            return
        self.plain_compile = plain = module_class.compile
        patches = self.patches

        @functools.wraps(plain)
        def compile(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = plain(self, *args, **kwargs)
            if id(self) in patches:
                patches[id(self)].compiled_again()
            return result

        module_class.compile = compile

    def discard(self, patch: _ModulePatch) -> None:
        self.patches.pop(id(patch.module), None)
        if not self.patches and self.plain_compile is not None:
            sys.modules["torch"].nn.Module.compile = self.plain_compile
            self.plain_compile = None


_patched = _Patched()


def _patch_call(handle: Handle, module: Any, name: str) -> None:
    stage_owners.note(name, module, "__call__")
    if hasattr(type(module), _ModulePatch.SLOT):
        handle._patches.append(_ModulePatch(module, core.stage(name)))
    else:  # an older torch
        _patch_method(handle, module, "forward", name)


def _patch_method(handle: Handle, owner: Any, method: str, name: str) -> None:
    if not callable(getattr(owner, method, None)):
        settings.say(f"cannot watch {name}: {type(owner).__name__} has no method {method!r}")
        return
    if not hasattr(owner, "__dict__"):  # __slots__
        settings.say(f"cannot watch {name}: a {type(owner).__name__} has no attributes of its own")
        return
    try:
        handle._patches.append(_MethodPatch(owner, method, core.stage(name)))
        stage_owners.note(name, owner, method)
    except (AttributeError, TypeError) as why:
        settings.say(f"cannot watch {name}: {why}")


class _PipelineCall:
    """The call of one pipeline as a stage. Python looks a call up in the class, so the class gets a version
    that lets other objects through; the last handle takes it out again."""

    label = "pipeline_call"

    def __init__(self, pipe: Any, before: Callable[[], None]) -> None:
        self.key = id(pipe)
        self.kind: Any = next(c for c in type(pipe).__mro__ if "__call__" in vars(c))
        known = vars(self.kind)["__call__"]
        self.handles: dict[int, list[Callable[[], None]]] = getattr(known, OURS, None) or self._wrap(known)
        self.before = before
        self.handles.setdefault(self.key, []).append(before)

    def _wrap(self, plain: Callable) -> dict[int, list[Callable[[], None]]]:
        handles: dict[int, list[Callable[[], None]]] = {}
        stage = core.stage(self.label)

        @functools.wraps(plain)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            actions = handles.get(id(self))
            if actions is None:
                return plain(self, *args, **kwargs)
            for action in actions:
                action()
            with stage:
                return plain(self, *args, **kwargs)

        setattr(call, OURS, handles)
        self.kind.__call__ = call
        return handles

    @staticmethod
    def fits(pipe: Any) -> bool:
        """Whether it has a call of its own that is a plain function, and `strata run` has not marked it."""
        plain = next((vars(c)["__call__"] for c in type(pipe).__mro__ if "__call__" in vars(c)), None)
        return (inspect.isfunction(plain) and not parts.is_module(pipe) and not hasattr(plain, MARKED)
                and not inspect.iscoroutinefunction(plain) and not inspect.isgeneratorfunction(plain)
                and not inspect.isasyncgenfunction(plain))

    def holds(self) -> bool:
        return getattr(vars(self.kind)["__call__"], OURS, None) is self.handles

    def undo(self) -> None:
        actions = self.handles.get(self.key, [])
        if self.before in actions:
            actions.remove(self.before)
        if not actions:
            self.handles.pop(self.key, None)
        if not self.handles and self.holds():
            self.kind.__call__ = vars(self.kind)["__call__"].__wrapped__


class PipelineHandle(Handle):
    """The stages of a pipeline. Components that are replaced or compiled later are found again
    at the next call."""

    def __init__(self, pipe: Any) -> None:
        super().__init__()
        self._pipe = weakref.ref(pipe)
        self._covered: dict[tuple[str, str], Any] = {}
        self.refresh()
        if self._patches and _PipelineCall.fits(pipe):
            patch = _PipelineCall(pipe, self._refresh_quietly)
            self._patches.append(patch)
            weakref.finalize(pipe, patch.undo).atexit = False

    def refresh(self) -> None:
        """Wraps what is new or was replaced since the last look."""
        pipe = self._pipe()
        if pipe is None:
            return
        for owner, method, label in parts.of_pipeline(pipe):
            self._cover(owner, method, label)

    def _cover(self, owner: Any, method: str, label: str) -> None:
        patch = self._covered.get((label, method))
        if patch is not None:
            if patch.owner_is(owner) and patch.patch.holds():
                return
            if patch.patch in self._patches:
                self._patches.remove(patch.patch)
            patch.patch.undo()
        before = len(self._patches)
        if method == "__call__":
            _patch_call(self, owner, label)
        else:
            _patch_method(self, owner, method, label)
        if len(self._patches) > before:
            patch = self._patches[-1]
            self._covered[(label, method)] = _Covered(owner, patch)
            if owner is self._pipe():
                patch.method.before.append(self._refresh_quietly)

    def _refresh_quietly(self) -> None:
        try:
            self.refresh()
        except Exception as why:
            settings.say(f"annotate_pipeline: {why!r}")

    def undo(self) -> None:
        super().undo()
        self._covered.clear()


class _Covered:
    """A patch and the object it is on."""

    def __init__(self, owner: Any, patch: Any) -> None:
        self.owner = owner
        self.patch = patch

    def owner_is(self, owner: Any) -> bool:
        return self.owner is owner


def annotate_pipeline(pipe: Any) -> Handle:
    """Puts stages on the parts of a diffusers pipeline: transformer(s), unet, controlnets and text
    encoders (..._forward), vae_encode, vae_decode, scheduler_step, encode_prompt, postprocess, and on its
    call (pipeline_call). Returns the handle that undoes it."""
    kind = type(pipe).__name__
    if pipe is None:
        settings.say("annotate_pipeline(None): there is no pipeline to mark")
        return Handle()
    try:
        handle = PipelineHandle(pipe)
    except Exception as why:  # an object that has no parts, or cannot be referred to
        settings.say(f"annotate_pipeline: nothing is marked on a {kind}: {why}")
        return Handle()
    if not handle._patches:
        settings.say(f"annotate_pipeline: a {kind} has no parts that are known by name (transformer, unet, "
                     "vae, scheduler ...); strata.watch(model) marks any module, strata.watch(object, "
                     '"method") any method')
    return handle


def watch(target: Any, *methods: str, name: str | None = None,
          submodules: str | Iterable[str] | None = ()) -> Handle:
    """Puts stages on an object.

        strata.watch(model)                            the calls of a module, named by its class
        strata.watch(model, submodules="blocks.*")     and of the modules inside it that match
        strata.watch(loader, "fetch", "decode")        methods of any object
    """
    handle = Handle()
    try:
        for owner, method, label in parts.of_watched(target, methods, name, submodules):
            if method == "__call__":
                _patch_call(handle, owner, label)
            else:
                _patch_method(handle, owner, method, label)
    except Exception as why:
        settings.say(f"watch: {why}")
    return handle
