"""The unit that is timed, found in a program that does not name it: calls of a diffusers pipeline or
of generate, steps of an optimizer, batches of a DataLoader, calls of the outermost module.

A call is timed from end to end, with the device synchronized at both. Steps of a loop follow each
other: nothing waits for the device; events in its queue say when each of them was over."""
from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from strata._base.on_import import when_imported
from strata._try.inside import device, modules, outputs, places
from strata._try.inside.log import Log
from strata._try.inside.random_state import RandomState

KEPT_CALLS = 4  # first calls of which outputs are kept
KEPT_STEPS = (2, 10, 40)  # steps after which they are
KEPT_WEIGHTS = 12  # tensors of weights that stand for all of them
MOST_PENDING = 64
MODULES_FOR = 3  # steps during which modules are searched for


class Units:
    """All units of this process. `on_unit` is called before each."""

    def __init__(self, log: Log, plan: dict[str, Any]) -> None:
        self.log = log
        self.wanted: str | None = plan.get("unit")
        self.repeat: dict[str, int] = plan.get("repeat") or {}
        self.most: int = plan.get("most_units") or 0
        self.most_s: float = plan.get("most_s") or 0.0
        self.least: int = plan.get("least_units") or 8
        self.phase_s: float = plan.get("phase_s") or 0.0  # what batches or module calls take at least
        self.output: str = plan.get("output") or ""
        self.counts: dict[str, int] = {}
        self.totals: dict[str, float] = {}
        self.on_unit: Callable[[int], None] = lambda k: None
        self.on_pipeline: Callable[[Any], None] = lambda pipe: None
        self.on_model: Callable[[Any], None] = lambda model: None
        self._thread: int | None = None
        self._inside = False
        self._last: dict[str, device.Stamp] = {}
        self._pending: list[tuple[str, int, dict[str, int], device.Stamp, device.Stamp]] = []
        self._optimizers: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._numbers = itertools.count()
        self.mark: dict[str, int] = {}  # of the unit, where fixes alternate: which, and its place
        self.is_probe = False  # whether results of the unit are compared with those without the fixes
        self.is_shared = "turns" in plan
        self.is_enough = False  # all turns are over
        self.is_switched = False  # before the unit that begins: fixes, on or off
        self.on_switch: Callable[[bool], None] = lambda on: None

    # ---- calls ----

    def around(self, name: str, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call that may be a unit."""
        key = f"call:{name}"
        if self._inside or not self._is_ours(key):
            return plain(*args, **kwargs)
        k = self._begin(key)
        self._inside = True
        try:
            again = k == self.repeat.get("at", -1)
            before = RandomState(args, kwargs) if again else None
            result = self._timed(key, k, plain, args, kwargs)
            if before is not None:
                self._again(key, before, plain, args, kwargs)
        finally:
            self._inside = False
        self._check_enough(key)
        return result

    def _timed(self, key: str, k: int, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        before = RandomState(args, kwargs) if self.is_probe else None
        device.synchronize()
        began = time.perf_counter()
        result = plain(*args, **kwargs)
        device.synchronize()
        ms = (time.perf_counter() - began) * 1e3
        self.totals[key] = self.totals.get(key, 0.0) + ms
        self._write(key, k, self.mark, ms)
        if before is not None:
            self.probe(before, result, plain, args, kwargs)
        elif k < KEPT_CALLS and not self.output and not self.is_shared:
            self.keep(k, result)
        return result

    def probe(self, before: RandomState, result: Any, plain: Callable, args: tuple,
              kwargs: dict[str, Any]) -> None:
        """Keeps the result of a call with fixes, and those of the same call without them, twice: what
        differs between these differs anyway. The program goes on as if they had not been made."""
        self._keep("with", result)
        after = RandomState(args, kwargs)
        self.on_switch(False)
        for which in ("without", "again"):
            before.restore()
            self._keep(which, plain(*args, **before.again(kwargs)))
        self.on_switch(True)
        after.restore()

    def _keep(self, which: str, value: Any) -> None:
        turn = self.mark["turn"]
        try:
            name = f"outputs-{os.getpid()}-{turn}-{which}.bin"
            self.log.write("probe", turn=turn, which=which, file=name,
                           items=outputs.save(value, self.log.path(name)))
        except Exception as why:
            self.log.write("no_outputs", k=turn, why=f"{type(why).__name__}: {why}"[:300])

    def _again(self, key: str, before: RandomState, plain: Callable, args: tuple,
               kwargs: dict[str, Any]) -> None:
        """The same call some more times, for a program that makes few. What they return is dropped,
        and random numbers go on as if they had not been made."""
        after = RandomState(args, kwargs)
        for _ in range(self.repeat["times"]):
            before.restore()
            k = self._begin(key)
            self._timed(key, k, plain, args, before.again(kwargs))
            if self.is_enough:
                break
        after.restore()

    # ---- steps ----

    def step(self, name: str, kept: Callable[[], Any] | None = None) -> None:
        """A step of a loop is over, and the next one begins."""
        key = f"step:{name}"
        if self._inside or not self._is_ours(key) or device.is_capturing():
            return
        now, before = device.Stamp(), self._last.get(key)
        k = self.counts.get(key, 0)
        if before is None:
            self.log.write("site", unit=key, source=places.here())
        else:
            self._pending.append((key, k, self.mark, before, now))
            self.counts[key] = k + 1
            self.totals[key] = self.totals.get(key, 0.0) + (now.at - before.at) * 1e3
        if len(self._pending) >= MOST_PENDING:
            self.flush(False)
        if before is not None and kept is not None and k in KEPT_STEPS and not self.output and (
                not self.is_shared):
            self.flush(True)
            self.keep(k, kept())
            now = device.Stamp()
        self._last[key] = now
        self.on_unit(self.counts.get(key, 0))
        if self.is_switched:
            self._last[key] = device.Stamp()  # what switching takes belongs to no unit
        self._check_enough(key)

    def flush(self, wait: bool) -> None:
        """Writes the steps the device is through with; with `wait` all of them."""
        if wait and self._pending:
            device.synchronize()
        while self._pending and (wait or self._pending[0][4].is_done()):
            key, k, mark, before, now = self._pending.pop(0)
            try:
                self._write(key, k, mark, now.ms_since(before))
            except Exception:  # events of a device that failed
                return

    # ---- both ----

    def keep(self, k: int, value: Any) -> None:
        """Outputs of the k-th unit."""
        try:
            name = f"outputs-{os.getpid()}-{k}.bin"
            self.log.write("outputs", k=k, file=name, items=outputs.save(value, self.log.path(name)))
        except Exception as why:
            self.log.write("no_outputs", k=k, why=f"{type(why).__name__}: {why}"[:300])

    def _is_ours(self, key: str) -> bool:
        if self.wanted is not None and self.wanted != key:
            return False
        if self._thread is None:
            self._thread = threading.get_ident()
        return self._thread == threading.get_ident()

    def _begin(self, key: str) -> int:
        k = self.counts.get(key, 0)
        self.counts[key] = k + 1
        if k == 0:
            self.log.write("site", unit=key, source=places.here())
        self.on_unit(k)
        return k

    def _write(self, key: str, k: int, mark: dict[str, int], ms: float) -> None:
        self.log.write("unit", unit=key, k=k, ms=round(ms, 6), **mark)

    def _check_enough(self, key: str) -> None:
        """A program that goes on for hours is ended when enough is known."""
        n, total = self.counts.get(key, 0), self.totals.get(key, 0.0) / 1e3
        may_be_phase = not key.startswith(("call:", "step:optimizer")) and total < self.phase_s
        many = bool(self.most) and n >= self.most and not may_be_phase
        long = bool(self.most_s) and n >= self.least and total >= self.most_s and not _has_ranks()
        if many or long or self.is_enough:
            self.flush(True)
            self.log.write("enough", unit=key, units=n)
            self.log.write("end", **device.described())
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except Exception:
                    pass
            os._exit(0)

    def forget(self) -> None:
        """In a forked child: its units are its own."""
        self.counts, self.totals, self._last, self._pending = {}, {}, {}, []
        self._thread, self._inside = None, False
        self.log.renew_lock()

    # ---- where they are found ----

    def install(self) -> None:
        """Waits for the packages in which units are found."""
        when_imported("torch", self._torch)
        when_imported("torch.utils.data.dataloader", self._loader)
        when_imported("transformers.generation.utils", self._generation)
        when_imported("diffusers.pipelines.pipeline_utils", self._pipelines)

    def _torch(self, torch: Any) -> None:
        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            name = self._optimizers.get(optimizer)
            if name is None:
                name = self._optimizers[optimizer] = f"optimizer{next(self._numbers) or ''}"
            self.step(f"{name}.step", functools.partial(_weights, optimizer))

        module = sys.modules.get("torch.optim.optimizer")  # torch hides it behind a function
        register = getattr(module, "register_optimizer_step_post_hook", None)
        if register is not None:
            register(after)

    def _loader(self, dataloader: Any) -> None:
        base = dataloader._BaseDataLoaderIter
        plain = base.__next__

        @functools.wraps(plain)
        def following(iterator: Any) -> Any:
            batch = plain(iterator)
            self.step("DataLoader")
            return batch

        base.__next__ = following

    def _generation(self, utils: Any) -> None:
        mixin = utils.GenerationMixin
        plain = mixin.generate

        @functools.wraps(plain)
        def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
            self.on_model(model)
            return self.around("generate", plain, (model, *args), kwargs)

        mixin.generate = generate

    def _pipelines(self, pipeline_utils: Any) -> None:
        """Every pipeline class made from now on."""
        base = pipeline_utils.DiffusionPipeline
        plain = base.__init_subclass__.__func__ if "__init_subclass__" in vars(base) else None
        units = self

        def timed(cls: Any, call: Callable) -> Callable:
            @functools.wraps(call)
            def wrapper(pipe: Any, *args: Any, **kwargs: Any) -> Any:
                units.on_pipeline(pipe)
                return units.around(type(pipe).__name__, call, (pipe, *args), kwargs)

            return wrapper

        def init_subclass(cls: Any, **kwargs: Any) -> None:
            if plain is not None:
                plain(cls, **kwargs)
            else:
                super(base, cls).__init_subclass__(**kwargs)
            if "__call__" in vars(cls):
                cls.__call__ = timed(cls, cls.__call__)

        base.__init_subclass__ = classmethod(init_subclass)


def _has_ranks() -> bool:
    """Other ranks wait for this one: all have to end with the same unit, and their clocks differ."""
    dist: Any = sys.modules.get("torch.distributed")
    return dist is not None and dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def _weights(optimizer: Any) -> list[Any]:
    """Some of what the optimizer has made of the weights."""
    found = [p for group in optimizer.param_groups for p in group["params"]]
    step = max(1, len(found) // KEPT_WEIGHTS)
    return [p.detach() for p in found[::step]][:KEPT_WEIGHTS]


def _can_repeat(args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether a call of a module can be made again: inference, with arguments that hold no state."""
    torch = sys.modules["torch"]

    def is_plain(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return all(map(is_plain, value))
        if isinstance(value, dict):
            return type(value) is dict and all(map(is_plain, value.values()))
        return value is None or isinstance(value, (bool, int, float, str, torch.Tensor, torch.dtype))

    return not torch.is_grad_enabled() and is_plain(args) and is_plain(kwargs)


class ModuleUnits:
    """Calls of the outermost module as steps of a loop, where there is nothing better."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self.names: dict[int, str] = {}

    def name(self, module: Any) -> str:
        """Its class; of further modules of one class, in the order of their first calls, with a number."""
        found = self.names.get(id(module))
        if found is None:
            kind = type(module).__name__
            same = sum(known.split("#")[0] == kind for known in self.names.values())
            found = self.names[id(module)] = kind if not same else f"{kind}#{same}"
        return found

    def called(self, module: Any) -> None:
        self.units.step(self.name(module))

    def watch(self, module: Any) -> None:
        """The unit is known: calls of this module, and no others, are noticed from now on."""
        name = self.name(module)

        def call(plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
            before = RandomState(args, kwargs) if self.units.is_probe and _can_repeat(
                args, kwargs) else None
            result = plain(*args, **kwargs)
            if before is not None:
                self.units.probe(before, result, plain, args, kwargs)
            self.units.step(name, lambda: result)
            return result

        modules.around(module, call)
