"""Ranges and stages that are not in the code: what a program does, without a line of its own for us.

While a timeline is recorded, the calls of outermost modules and of those directly inside them,
generate and the diffusers pipelines, backward, torch.compile at work and what it has compiled,
tokenizers and image processors, the start of a DataLoader, the batches of its workers and the
phases of the Trainers of transformers and Lightning become ranges of the category strata_derived;
torch itself marks the steps of optimizers and what a loop waits for its DataLoader. Python GC
pauses become rows.

`strata run` without a timeline makes stages of the same, where nothing is open that the program has
named: of the outermost modules, generate, backward, the steps of optimizers, what a loop waits for
its DataLoader, torch.compile at work, and the phases of Trainers.

Functions are replaced where they are found, and put back when recording ends. What is replaced has
to go on working for code that has got hold of it meanwhile, in torch.compile as well, which learns in
_pipeline/import_actions.py that no range is wanted there. The extension decides whether one is:
src/derived.c."""
from __future__ import annotations

import functools
import gc
import inspect
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from strata._base import PACKAGE, on_import, settings
from strata._base.extension import core
from strata._timeline import inductor_side, settings_side

LIBRARY = "libstrata_inject.so"
OLDEST_TORCH = (2, 5)  # where torch.compile can be taught to pass over us

_lock = threading.RLock()
_patches: list[_Patch] = []
_waits_for: set[str] = set()
_on = False
_as_stages = False


class _Patch:
    """One function that was replaced."""

    def __init__(self, owner: Any, name: str, ours: Any) -> None:
        self.owner, self.name, self.ours = owner, name, ours
        self.before = vars(owner)[name]
        setattr(owner, name, ours)

    def undo(self) -> None:
        if vars(self.owner).get(self.name) is self.ours:  # otherwise another library has come after us
            setattr(self.owner, self.name, self.before)


def _ranged(name: str, plain: Callable, unless: Callable | None = None, whole: bool = False) -> Callable:
    """The function, with a range around every call, unless that says no. A whole call is what units
    in depth lie in (src/unit.h)."""
    if _as_stages:
        return _staged(name, plain, unless)
    begin, end, number = core.derived_begin, core.derived_end, core.name_id(name)

    @functools.wraps(plain)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if (unless is not None and unless()) or not begin(number):
            return plain(*args, **kwargs)
        try:
            return plain(*args, **kwargs)
        finally:
            end()
            if whole:
                core.unit_ends()

    wrapper.strata_derived = True  # type: ignore[attr-defined]
    return wrapper


def _staged(name: str, plain: Callable, unless: Callable | None) -> Callable:
    """The function as a stage, where one is wanted."""
    stage, wanted = core.derived_stage(name), core.may_derive

    @functools.wraps(plain)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not wanted() or (unless is not None and unless()):
            return plain(*args, **kwargs)
        error: type[BaseException] | None = None
        stage.__enter__()
        try:
            return plain(*args, **kwargs)
        except StopIteration:  # of a DataLoader that has come to its end
            raise
        except BaseException as why:
            error = type(why)
            raise
        finally:
            stage.__exit__(error, None, None)

    wrapper.strata_derived = True  # type: ignore[attr-defined]
    return wrapper


def _put(owner: Any, name: str, label: str, unless: Callable | None = None, whole: bool = False) -> None:
    """A range around a function of a class or module; quietly nothing where it has none of its own."""
    plain = vars(owner).get(name) if owner is not None else None
    if callable(plain) and not hasattr(plain, "strata_derived"):
        _patches.append(_Patch(owner, name, _ranged(label, plain, unless, whole)))


_inside, _enter, _leave = core.inside_module, core.enter_module, core.leave_module
_plain_call: Any = None  # torch.nn.Module.__call__


def _as_torch_does(self: Any, *args: Any, **kwargs: Any) -> Any:
    """nn.Module.__call__ as torch 2 has it."""
    if self._compiled_call_impl is not None:
        return self._compiled_call_impl(*args, **kwargs)
    else:
        return self._call_impl(*args, **kwargs)


def _module_call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """nn.Module.__call__ with a range around the calls that matter. What it needs is global, not in a
    closure: code that torch.compile makes meanwhile would ask for that again when it is gone."""
    if not _inside():
        return _marked_call(self, args, kwargs)
    if self._compiled_call_impl is not None:
        return self._compiled_call_impl(*args, **kwargs)
    else:
        return self._call_impl(*args, **kwargs)


def _wrapped_call(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The same around any other __call__, for one more Python frame per module."""
    return _plain_call(self, *args, **kwargs) if _inside() else _marked_call(self, args, kwargs)


def _marked_call(self: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    _enter(self, args, kwargs)
    try:
        result = _plain_call(self, *args, **kwargs)
    except BaseException as error:
        _leave(type(error))
        raise
    _leave(None)
    return result


def _same_code(a: Any, b: Any) -> bool:
    """Whether two functions do the same, as far as their bytecode tells."""
    if not isinstance(a, types.FunctionType) or not isinstance(b, types.FunctionType):
        return False
    takes = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return a.__code__.co_flags & takes == b.__code__.co_flags & takes and all(
        getattr(a.__code__, what) == getattr(b.__code__, what)
        for what in ("co_code", "co_names", "co_varnames", "co_argcount", "co_freevars"))


def _patch_modules(module: Any) -> None:
    global _plain_call
    plain = vars(module)["__call__"]
    if plain in (_module_call, _wrapped_call):  # in a forked child
        return
    ours = _module_call if _same_code(plain, _as_torch_does) else _wrapped_call
    functools.update_wrapper(ours, plain)
    _plain_call = plain
    _patches.append(_Patch(module, "__call__", ours))


def _version(torch: Any) -> tuple[int, ...]:
    parts = str(getattr(torch, "__version__", "0")).split("+")[0].split(".")
    return tuple(int(part) for part in parts[:2] if part.isdigit())


def _torch(torch: Any) -> None:
    if _version(torch) < OLDEST_TORCH:
        return
    _patch_modules(torch.nn.Module)
    _put(torch.autograd, "_engine_run_backward", "backward",
         unless=None if _as_stages else settings_side.backward)
    if _as_stages:
        for cls in _descendants(torch.optim.Optimizer):
            _put(cls, "step", "optimizer.step")


def _dataloader(dataloader: Any) -> None:
    """What the loop waits for is torch's own range; the time of a batch in a worker is not."""
    if _as_stages:
        for cls in (dataloader._BaseDataLoaderIter, *_descendants(dataloader._BaseDataLoaderIter)):
            _put(cls, "__next__", "DataLoader.__next__")
        return
    _put(dataloader.DataLoader, "__iter__", "DataLoader.__iter__")
    which = dataloader.get_worker_info
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        fetcher = getattr(dataloader._utils.fetch, name, None)
        _put(fetcher, "fetch", "DataLoader worker", unless=lambda: which() is None)


def _compiler(convert_frame: Any) -> None:
    """torch.compile at work: a range with the name of the function that is compiled, and torch's number
    of it: 0/2 is the first function, compiled for the third time."""
    plain = convert_frame._compile
    if hasattr(plain, "strata_derived"):
        return

    if _as_stages:
        _put(convert_frame, "_compile", "torch.compile")
        return

    def number() -> str:
        try:
            return str(convert_frame.CompileContext.current_compile_id())
        except Exception:
            return "?"

    @functools.wraps(plain)
    def compile_frame(code: Any, *args: Any, **kwargs: Any) -> Any:
        name = f"TorchDynamo compile: {getattr(code, 'co_name', '?')} {number()}"
        return _ranged(name, plain)(code, *args, **kwargs)

    compile_frame.strata_derived = True  # type: ignore[attr-defined]
    _patches.append(_Patch(convert_frame, "_compile", compile_frame))


def _compiled_code(output_code: Any) -> None:
    """Named as torch.profiler names it."""
    if _as_stages:
        return
    _put(output_code.CompiledFxGraph, "__call__", "## Call CompiledFxGraph ##")


def _generated_code(codecache: Any) -> None:
    """No range, but the lines that compiled kernels come from."""
    if _as_stages:
        return
    wanted = inductor_side.watch(codecache)
    if wanted is not None:
        _patches.append(_Patch(*wanted))


def _generation(utils: Any) -> None:
    _put(utils.GenerationMixin, "generate", "generate", whole=True)


def _tokenization(base: Any) -> None:
    tokenizer = base.PreTrainedTokenizerBase
    _put(tokenizer, "__call__", "tokenizer")
    _put(tokenizer, "decode", "tokenizer.decode")
    _put(tokenizer, "batch_decode", "tokenizer.batch_decode")


def _image_processing(utils: Any) -> None:
    _put(utils.BaseImageProcessor, "__call__", "image processor")


def _descendants(cls: type) -> list[type]:
    found: list[type] = []
    child: type
    for child in cls.__subclasses__():
        found += [c for c in (child, *_descendants(child)) if c not in found]
    return found


def _pipelines(pipeline_utils: Any) -> None:
    """Those that strata.run annotates are stages and stay what they are."""
    if settings.flag("STRATA_AUTO", False):
        return
    for cls in _descendants(pipeline_utils.DiffusionPipeline):
        _put(cls, "__call__", cls.__name__, whole=True)


def _trainer(trainer: Any) -> None:
    """That of transformers."""
    for name, label in (("train", "train"), ("training_step", "training_step"),
                        ("evaluate", "evaluate"), ("predict", "predict"),
                        ("_save_checkpoint", "save_checkpoint")):
        _put(trainer.Trainer, name, label)


def _lightning(trainer: Any) -> None:
    for name in ("fit", "validate", "test", "predict", "save_checkpoint"):
        _put(trainer.Trainer, name, name)


def _lightning_steps(strategy: Any) -> None:
    for name in ("training_step", "validation_step", "test_step", "predict_step"):
        _put(strategy.Strategy, name, name)


_PLACES: dict[str, Callable[[Any], None]] = {
    "torch": _torch,
    "torch.utils.data.dataloader": _dataloader,
    "torch._dynamo.convert_frame": _compiler,
    "torch._inductor.output_code": _compiled_code,
    "torch._inductor.codecache": _generated_code,
    "transformers.generation.utils": _generation,
    "transformers.tokenization_utils_base": _tokenization,
    "transformers.image_processing_utils": _image_processing,
    "transformers.trainer": _trainer,
    "pytorch_lightning.trainer.trainer": _lightning,
    "pytorch_lightning.strategies.strategy": _lightning_steps,
    "lightning.pytorch.trainer.trainer": _lightning,
    "lightning.pytorch.strategies.strategy": _lightning_steps,
    "diffusers.pipelines.pipeline_utils": _pipelines,
}


def _install(name: str, module: Any) -> None:
    try:
        _PLACES[name](module)
    except Exception as why:
        settings.say(f"no ranges in {name}: {why!r}")


def _arrived(name: str, module: Any) -> None:
    """A module was imported while we wait for it; perhaps recording has ended."""
    with _lock:
        _waits_for.discard(name)
        if _on:
            _install(name, module)


def _watch_gc() -> None:
    if core.gc_event in gc.callbacks:
        return
    plain, asked = gc.collect, core.gc_asked

    @functools.wraps(plain)
    def collect(*args: Any, **kwargs: Any) -> int:
        asked(True)
        try:
            return plain(*args, **kwargs)
        finally:
            asked(False)

    _patches.append(_Patch(gc, "collect", collect))
    gc.callbacks.append(core.gc_event)


def _install_all() -> None:
    for name in _PLACES:
        module = sys.modules.get(name)
        if module is not None:
            _install(name, module)
        elif name not in _waits_for:
            _waits_for.add(name)
            on_import.when_imported(name, functools.partial(_arrived, name))


def start(as_stages: bool = False) -> None:
    """Ranges from here on, or stages. Called again without a stop it does nothing."""
    global _on, _as_stages
    with _lock:
        if _on or not settings.flag("STRATA_TEST_DERIVED", True):
            return
        _on, _as_stages = True, as_stages
        core.derive(True, as_stages)
        if not as_stages:
            core.units_of(os.environ.get("STRATA_INJECT") or os.path.join(PACKAGE, LIBRARY))
            settings_side.begin()
            core.unit_tells(settings_side.tell)
        _install_all()
        if settings.flag("STRATA_TEST_GC", True) and not as_stages:
            _watch_gc()


def stop() -> None:
    """No ranges any more, and everything as it was. Stages stay until the program ends."""
    global _on
    with _lock:
        if not _on or _as_stages:
            return
        _on = False
        settings_side.tell()
        core.derive(False, False)
        while _patches:
            _patches.pop().undo()
        if core.gc_event in gc.callbacks:
            gc.callbacks.remove(core.gc_event)


def _forget_in_child() -> None:
    """What was replaced stays so in a forked child, and asks the flag of the parent."""
    global _lock, _on
    _lock = threading.RLock()
    _patches.clear()
    _on = False


os.register_at_fork(after_in_child=_forget_in_child)
