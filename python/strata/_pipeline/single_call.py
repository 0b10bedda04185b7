"""One call, run alone: its inputs made up, torch's modes and the state of its object put as they were
recorded, the random numbers seeded, its time taken on the device and on the CPU.

Uses nothing but torch and the standard library: the text of this file is the second half of every
profile_{stage}.py, so that such a script measures exactly as `strata bench` does."""
from __future__ import annotations

import contextlib
import gc
import inspect
import math
import os
import random
import re
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

STEADY_CALLS = 3  # calls in a row that bring no new best time
STEADY_SHARE = 0.02  # by more than this
MOST_WARMUP = 50
LEAST_BUSY_S = 0.3  # of warm-up: clocks of a device that slept need a moment
LEAST_SAMPLE_MS = 1.0  # shorter calls are measured several at a time
MOST_LEAD_MS = 30.0
CYCLES_A_MS = 1.9e6  # of a device, about
IN_A_ROW = 64  # calls that the device is given without a pause
MOST_SAMPLES = 1000
ON_HOST = 1 << 26  # elements made by the CPU's generator, which gives the same everywhere


class Maker:
    """Makes inputs up. The same calls in the same order give the same values."""

    def __init__(self, seed: int = 0, device: str | None = None) -> None:
        self.random = torch.Generator().manual_seed(seed)
        self.device = device
        self.types: tuple[str, ...] = ()  # modules whose classes may be built
        self.stored: dict[str, Any] = {}  # real tensors to use instead, by name
        self.generators: list[Any] = []  # handed out: to be seeded again before every call

    def tensor(self, shape: Any, dtype: str, device: str = "cpu", *, stride: Any = None,
               low: int = 0, high: int = 1, values: Any = None, grad: bool = False,
               layout: str | None = None, stored: str | None = None) -> Any:
        """Normal numbers, integers from `low` to `high`, the values given, or a stored tensor."""
        kind = of_torch(dtype, torch.dtype)
        where = torch.device(self.device or device)
        if stored in self.stored:
            made = laid_out(self.stored[stored].to(where), stride)
        elif values is not None:
            flat = torch.tensor([float(v) if isinstance(v, str) else v for v in values])
            made = laid_out(flat.to(kind).to(where).reshape(tuple(shape)), stride)
        elif stride is not None:
            # memory is filled and then looked at by the strides, which may show a place twice
            reach = 1 + sum((n - 1) * step for n, step in zip(shape, stride))
            made = self._numbers([0 if 0 in shape else reach], kind, where, (low, high))
            made = made.as_strided(tuple(shape), tuple(stride))
        else:
            made = self._numbers(list(shape), kind, where, (low, high))
        if layout is not None:
            made = made.to_sparse(layout=of_torch(layout, torch.layout))
        return made.requires_grad_() if grad else made

    def _numbers(self, shape: list[int], kind: Any, where: Any, span: tuple[int, int]) -> Any:
        here = torch.device("cpu") if math.prod(shape) <= ON_HOST or where.type == "meta" else where
        source = self.random if here.type == "cpu" else torch.Generator(here).manual_seed(0)
        if kind.is_floating_point or kind.is_complex:
            wide = torch.complex64 if kind.is_complex else torch.float32
            made = torch.randn(shape, dtype=wide, generator=source, device=here)
        else:
            end = min(span[1] + 1, 2**63 - 1)  # itself excluded
            made = torch.randint(span[0], end, shape, generator=source, device=here)
        return made.to(kind).to(where)

    def generator(self, device: str = "cpu") -> Any:
        """A generator as the program passed one."""
        made = torch.Generator(self.device or device).manual_seed(0)
        self.generators.append(made)
        return made


def of_torch(name: str, kind: Any) -> Any:
    """torch's dtype or layout of that name. It is read from a file, and stands for nothing else."""
    found = vars(torch).get(name)
    if not isinstance(found, kind):
        raise ValueError(f"torch has no {kind.__name__} {name!r}")
    return found


def laid_out(values: Any, stride: Any) -> Any:
    """The values in memory with these strides; along a stride of 0 they are the same."""
    if stride is None or tuple(values.stride()) == tuple(stride):
        return values
    base = values[tuple(slice(0, 1) if step == 0 else slice(None) for step in stride)]
    out = torch.empty_strided(base.shape, stride, dtype=values.dtype, device=values.device)
    try:
        out.copy_(base)
    except RuntimeError:  # parts of it lie on each other: such a view cannot be written
        return values
    return out.expand(values.shape)


def bind(fn: Callable, inputs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name as the function takes them: by position where it must be."""
    rest = sorted((int(m[2]), v) for k, v in inputs.items()
                  if (m := re.fullmatch(r"(\w+)\[(\d+)\]", k)))
    named = {k: v for k, v in inputs.items() if "[" not in k}
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return [v for _, v in sorted(named.items())] + [v for _, v in rest], {}
    args = []
    for name, parameter in parameters.items():
        if parameter.kind is parameter.POSITIONAL_ONLY or (
                rest and parameter.kind is parameter.POSITIONAL_OR_KEYWORD):
            if name in named:
                args.append(named.pop(name))
        elif parameter.kind is parameter.VAR_POSITIONAL:
            args += [v for _, v in rest]
    return args, named


@contextlib.contextmanager
def modes(mode: dict[str, Any], device: str | None = None) -> Any:
    """torch's modes as recorded: {"grad": ..., "inference": ..., "autocast": {...}}."""
    with contextlib.ExitStack() as stack:
        if mode.get("inference"):
            stack.enter_context(torch.inference_mode())
        elif "grad" in mode:
            stack.enter_context(torch.set_grad_enabled(mode["grad"]))
        for kind, dtype in mode.get("autocast", {}).items():
            where = torch.device(device).type if device else kind
            stack.enter_context(torch.autocast(where, dtype=of_torch(dtype, torch.dtype)))
        yield


class Alone:
    """A call that can be made again and again, every time as if it were the first."""

    def __init__(self, fn: Callable, inputs: dict[str, Any], owner: Any = None,
                 state: dict[str, Any] | None = None, seed: int = 0,
                 generators: Any = ()) -> None:
        self.fn = fn
        self.args, self.kwargs = bind(fn, inputs)
        self.seed = seed
        self.generators = generators
        self.owner = owner if owner is not None and hasattr(owner, "__dict__") else None
        self.kept: dict[str, Any] = {}
        if self.owner is not None:
            vars(self.owner).update(state or {})
            self.kept = {k: _copy(v) for k, v in vars(self.owner).items()}
        self.tensors = [(name, t, t._version) for name, t in _tensors(inputs)]
        self.originals: list[tuple[Any, Any]] = []
        self.written: list[str] = []

    def __call__(self) -> Any:
        return self.fn(*self.args, **self.kwargs)

    def prepare(self) -> None:
        """Everything as before the first call."""
        if self.owner is not None:
            held = vars(self.owner)
            held.clear()
            held.update((k, _copy(v)) for k, v in self.kept.items())
        with torch.no_grad():
            for t, original in self.originals:
                t.copy_(original)
        torch.manual_seed(self.seed)
        random.seed(self.seed)
        for generator in self.generators:
            generator.manual_seed(0)

    def try_once(self) -> Any:
        """The first call; finds out which inputs the stage writes into. Keeps copies of all of
        them for that long only."""
        copies = [t.detach().clone() for _, t, _ in self.tensors]
        self.prepare()
        result = self()
        for (name, t, version), copy in zip(self.tensors, copies):
            if t._version != version:
                self.written.append(name)
                self.originals.append((t, copy))
        return result

    def restores(self) -> bool:
        """Whether something has to be put back between two calls."""
        return self.owner is not None or bool(self.originals or self.generators)


def _copy(value: Any) -> Any:
    """Containers are filled by the call; what they hold stays."""
    return value.copy() if type(value) in (list, dict, set) else value


def _tensors(value: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        return [] if value.is_inference() or value.requires_grad else [(name, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, (list, tuple)) else ()
    return [found for k, v in items for found in _tensors(v, f"{name}.{k}" if name else str(k))]


class Stopwatch:
    """Takes the time of calls: `wall_ms` until the device is done, `cpu_ms` until the call returns,
    `gpu_ms` on the device while the CPU is ahead, as it is in the middle of a pipeline. Without a
    device `cpu_ms` is the processor time that was used, on all threads."""

    def __init__(self, device: str = "cpu") -> None:
        kind = torch.device(device).type
        self.device = None if kind in ("cpu", "meta") else getattr(torch, kind)
        self.batch = 1
        self.lead_ms = 0.0

    def sample(self, call: Any) -> dict[str, float]:
        """One measurement of `call`, in milliseconds for one call."""
        call.prepare()
        self._wait()
        used = time.process_time_ns() if self.device is None else 0
        began = time.perf_counter_ns()
        for _ in range(self.batch):
            call()
        returned = time.perf_counter_ns()
        self._wait()
        done = time.perf_counter_ns()
        cpu = time.process_time_ns() - used if self.device is None else returned - began
        return {"wall_ms": (done - began) / 1e6 / self.batch, "cpu_ms": cpu / 1e6 / self.batch}

    def on_device(self, call: Any, times: int) -> list[float]:
        """What the device takes for a call, for several in a row without a pause, because a device
        that may rest in between runs at a higher clock than it does in a pipeline. Where the CPU is
        the slower one, the device is kept busy before every call until the CPU is ahead."""
        if self.device is None:
            return []
        marks = []
        self._wait()
        for _ in range(times):
            call.prepare()
            begin, end = (self.device.Event(enable_timing=True) for _ in range(2))
            if self.lead_ms and hasattr(self.device, "_sleep"):
                self.device._sleep(int(self.lead_ms * CYCLES_A_MS))
            begin.record()
            for _ in range(self.batch):
                call()
            end.record()
            marks.append((begin, end))
        self._wait()
        return [begin.elapsed_time(end) / self.batch for begin, end in marks]

    def _wait(self) -> None:
        if self.device is not None:
            self.device.synchronize()

    def settle(self, call: Any, samples: list[dict[str, float]]) -> None:
        """After the warm-up: how many calls a measurement takes, and how much lead the CPU needs."""
        last = samples[-STEADY_CALLS:]
        best = min(s["wall_ms"] for s in last)
        if not call.restores() and best < LEAST_SAMPLE_MS / 5:
            self.batch = max(1, round(LEAST_SAMPLE_MS / max(best, 1e-4)))
        if self.device is None or "STRATA_DIVE" in os.environ:
            return
        cpu = statistics.median(s["cpu_ms"] for s in last) * self.batch
        if cpu > best * self.batch / 2:
            self.lead_ms = min(1.5 * cpu + 0.5, MOST_LEAD_MS)


def is_steady(times: list[float]) -> bool:
    """Whether the last calls brought no new best: caches are filled, code is compiled."""
    if len(times) <= STEADY_CALLS:
        return False
    best = min(times[:-STEADY_CALLS])
    return min(times[-STEADY_CALLS:]) > best * (1 - STEADY_SHARE)


def warm_up(watch: Stopwatch, call: Any, calls: int | None = None,
            most_s: float = 120.0) -> tuple[int, bool]:
    """Calls until it is steady, or as often as asked; (how many, whether it became steady)."""
    samples: list[dict[str, float]] = []
    began = time.perf_counter()
    while len(samples) < (MOST_WARMUP if calls is None else calls):
        samples.append(watch.sample(call))
        spent = time.perf_counter() - began
        settled = is_steady([s["wall_ms"] for s in samples])
        if calls is None and (spent > most_s or (
                settled and (watch.device is None or spent > LEAST_BUSY_S))):
            break
    if samples:
        watch.settle(call, samples)
    return len(samples), calls is not None or is_steady([s["wall_ms"] for s in samples])


def measure(watch: Stopwatch, call: Any, iterations: int | None = None, seconds: float = 10.0,
            between: Callable[[], None] = lambda: None) -> list[dict[str, float]]:
    """That many measurements, or as many as fit into the time. On a device, all of the first kind
    come before those of `on_device`. `between` is called occasionally, never while time is
    taken."""
    gc.collect()
    gc.freeze()
    try:
        most = iterations or MOST_SAMPLES
        half = seconds if watch.device is None else seconds / 2
        samples: list[dict[str, float]] = []
        began = time.perf_counter()
        while len(samples) < most:
            samples.append(watch.sample(call))
            if len(samples) % 8 == 0:
                between()
            if iterations is None and len(samples) >= 3 and time.perf_counter() - began > half:
                break
        for start in range(0, len(samples) if watch.device else 0, IN_A_ROW):
            part = samples[start:start + IN_A_ROW]
            for found, ms in zip(part, watch.on_device(call, len(part))):
                found["gpu_ms"] = ms
            between()
    finally:
        gc.unfreeze()
    return samples


def record(call: Any, name: str, calls: int = 1, stack: bool = True) -> Any:
    """torch.profiler over a call, after one more that only wakes the profiler up."""
    activities = list(torch.profiler.supported_activities())
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=calls, repeat=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the events of the waking up are dropped
        with torch.profiler.profile(activities=activities, schedule=schedule, record_shapes=True,
                                    with_stack=stack) as profiler:
            for _ in range(1 + calls):
                call.prepare()
                with torch.profiler.record_function(name):
                    call()
                if hasattr(torch, "accelerator") and torch.accelerator.is_available():
                    torch.accelerator.synchronize()
                profiler.step()
    return profiler
