"""What `strata offload` needs to know about a model: its modules, their bytes and the order they
run in, as the offloading schemes of accelerate and diffusers cut it up, and how fast this machine
copies.

    python -m strata.offload list transformer.safetensors -o modules.json
    python -m strata.offload list mypackage.pipes:make --scheme sequential -o modules.json
    python -m strata.offload calibrate -o rates.json
    strata offload --modules modules.json --calibration rates.json --resident 8GB --steps 30

Headers of safetensors files are read without torch. Nothing is moved to a device by `list`.
"""
from __future__ import annotations

import argparse
import contextlib
import ctypes
import functools
import importlib
import json
import re
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMES = ("sequential", "group_leaf", "group_block", "model")
MOST_HEADER_BYTES = 100_000_000


@dataclass
class Unit:
    """What a scheme moves at once."""

    name: str
    bytes: int
    tensors: int
    leader: Any = field(default=None, repr=False)  # the module whose call brings it over
    whole: bool = False  # any call inside the leader does: decode() of a VAE is not forward()
    flops: int = 0  # between its call and that of the next unit; 0: unknown
    twice: int = 0  # bytes that are moved a second time

    def as_dict(self) -> dict[str, Any]:
        more = {"flops": self.flops} if self.flops else {}
        if self.twice:
            more["moved_bytes"] = self.bytes + self.twice
        return {"name": self.name, "bytes": self.bytes, "tensors": self.tensors, **more}


# ---- modules of a model ----


def list_modules(target: Any, scheme: str = "sequential", run: Callable[[], Any] | None = None,
                 blocks_per_group: int = 1) -> list[Unit]:
    """The units of a torch.nn.Module or a diffusers pipeline under a scheme.

    sequential   enable_sequential_cpu_offload: every module with tensors of its own
    group_leaf   enable_group_offload(offload_type="leaf_level")
    group_block  enable_group_offload(offload_type="block_level", num_blocks_per_group=...)
    model        enable_model_cpu_offload: whole components

    `run` runs the model once: units are then in the order of their first use, and unused ones are
    left out. Without it they are in the order of registration."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, not {scheme!r}")
    units = list(_units(target, scheme, blocks_per_group))
    return units if run is None else in_order(units, run)


def _units(target: Any, scheme: str, blocks_per_group: int) -> Iterator[Unit]:
    if not hasattr(target, "components"):
        yield from _units_of(target, "", scheme, blocks_per_group)
        return
    if scheme == "model":
        yield from _components(target)
        return
    kept = getattr(target, "_exclude_from_cpu_offload", []) if scheme == "sequential" else []
    for name, model in _models(target):
        if name not in kept:
            yield from _units_of(model, name + ".", scheme, blocks_per_group)


def _units_of(model: Any, prefix: str, scheme: str, blocks_per_group: int) -> Iterable[Unit]:
    if scheme == "sequential":
        return _sequential(model, prefix)
    if scheme == "group_leaf":
        return _group_leaf(model, prefix)
    if scheme == "group_block":
        return _group_block(model, prefix, blocks_per_group)
    return [_whole(prefix.rstrip("."), model)]


def in_order(units: list[Unit], run: Callable[[], Any]) -> list[Unit]:
    """The units in the order in which their leaders are first called by `run`, each with the FLOPs
    of a call up to that of the next unit."""
    clock = _FlopClock()
    hooks = [module.register_forward_pre_hook(lambda *_, key=i: clock.enter(key))
             for i, u in enumerate(units)
             for module in (u.leader.modules() if u.whole else [u.leader])]
    try:
        with clock.counter:
            run()
        clock.enter(None)
    finally:
        for hook in hooks:
            hook.remove()
    for i, flops in clock.flops.items():
        units[i].flops = flops // clock.calls[i]
    return [units[i] for i in clock.calls]


class _FlopClock:
    """Charges the FLOPs between two calls of units to the first of them."""

    def __init__(self) -> None:
        try:
            from torch.utils.flop_counter import FlopCounterMode
            self.counter = FlopCounterMode(display=False)
        except ImportError:  # old torch: the order is known, the work is not
            self.counter = contextlib.nullcontext()
        self.calls: dict[int, int] = {}
        self.flops: dict[int, int] = {}
        self.now: int | None = None
        self.charged = 0

    def enter(self, unit: int | None) -> None:
        total = getattr(self.counter, "get_total_flops", lambda: 0)()
        if self.now is not None:
            self.flops[self.now] = self.flops.get(self.now, 0) + total - self.charged
        self.charged = total
        if unit is not None and unit != self.now:
            self.calls[unit] = self.calls.get(unit, 0) + 1
        self.now = unit


def _unit(name: str, tensors: Iterable[Any], leader: Any) -> Unit:
    unique = {id(t): t for t in tensors}
    size = sum(t.numel() * t.element_size() for t in unique.values())
    return Unit(name, size, len(unique), leader)


def _whole(name: str, model: Any) -> Unit:
    unit = _unit(name, [*model.parameters(), *model.buffers()], model)
    unit.whole = True
    return unit


def _models(pipe: Any) -> Iterator[tuple[str, Any]]:
    import torch
    for name, model in pipe.components.items():
        if isinstance(model, torch.nn.Module):
            yield name, model


def _components(pipe: Any) -> Iterator[Unit]:
    """Whole models, in the order the pipeline says it runs them."""
    models = dict(_models(pipe))
    order = [n for n in (pipe.model_cpu_offload_seq or "").split("->") if n in models]
    for name in order + [n for n in models if n not in order]:
        yield _whole(name, models[name])


def _sequential(model: Any, prefix: str) -> Iterator[Unit]:
    """Every module with parameters of its own; persistent buffers travel only in models that have
    parameters at the top."""
    with_buffers = len(model._parameters) > 0
    for name, module in model.named_modules():
        tensors = list(module.parameters(recurse=False))
        if with_buffers:
            gone = module._non_persistent_buffers_set
            tensors += [b for n, b in module.named_buffers(recurse=False) if n not in gone]
        if tensors:
            yield _unit(prefix + name, tensors, module)


def _leaf_types() -> tuple[Any, ...]:
    try:
        from diffusers.hooks._common import _GO_LC_SUPPORTED_PYTORCH_LAYERS
        return _GO_LC_SUPPORTED_PYTORCH_LAYERS
    except ImportError:
        from torch import nn
        return (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d,
                nn.ConvTranspose3d, nn.Linear, nn.Embedding)


def _group_leaf(model: Any, prefix: str) -> Iterator[Unit]:
    """Linear and convolution layers by themselves; other tensors with the module they hang on."""
    leaves = _leaf_types()
    covered: set[str] = set()
    for name, module in model.named_modules():
        inside = any(name == c or name.startswith(c + ".") for c in covered)
        if isinstance(module, leaves):
            covered.add(name)
            yield _unit(prefix + name, [*module.parameters(), *module.buffers()], module)
        elif not inside:
            own = [*module.parameters(recurse=False), *module.buffers(recurse=False)]
            if own:
                yield _unit(prefix + name, own, module)


def _group_block(model: Any, prefix: str, blocks_per_group: int) -> Iterator[Unit]:
    """Groups of blocks of the lists at the top of the model, and one group of all the rest, which
    is brought over when the model itself is called."""
    from torch import nn
    named = set(getattr(model, "_group_offload_block_modules", None) or ())
    groups: list[Unit] = []
    covered: set[str] = set()
    for name, child in model.named_children():
        if name in named:
            groups += _group_block(child, f"{prefix}{name}.", blocks_per_group)
            covered.add(name)
        elif isinstance(child, (nn.ModuleList, nn.Sequential)):
            groups += _blocks(child, prefix + name, blocks_per_group)
            covered.add(name)
    rest = [t for n, t in [*model.named_parameters(), *model.named_buffers()]
            if n.split(".")[0] not in covered]
    if rest:
        unit = _unit(prefix + "(rest)", rest, model)
        # put away, a module gets new buffers, and the group keeps moving the old ones as well
        unit.twice = sum(b.numel() * b.element_size() for n, b in model.named_buffers()
                         if "." in n and n.split(".")[0] not in covered)
        yield unit
    yield from groups


def _blocks(blocks: Any, name: str, blocks_per_group: int) -> Iterator[Unit]:
    for first in range(0, len(blocks), blocks_per_group):
        group = list(blocks[first:first + blocks_per_group])
        tensors = [t for b in group for t in [*b.parameters(), *b.buffers()]]
        last = first + len(group) - 1
        yield _unit(f"{name}.{first}" if last == first else f"{name}.{first}-{last}", tensors,
                    group[0])


# ---- modules of a file ----


def read_safetensors(path: str | Path) -> list[Unit]:
    """The modules of a .safetensors file, or of all of them in a folder, from their headers alone.
    Files say nothing about the order in which modules run: it is guessed from their names."""
    path = Path(path)
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path}: the folder has no .safetensors files")
    found: dict[str, Unit] = {}
    for file in files:
        for tensor, entry in _read_header(file).items():
            name = tensor.rpartition(".")[0] or tensor
            begin, end = entry["data_offsets"]
            unit = found.setdefault(name, Unit(name, 0, 0))
            unit.bytes += end - begin
            unit.tensors += 1
    return sorted(found.values(), key=lambda u: (_place(u.name), _natural(u.name)))


def _read_header(file: Path) -> dict[str, Any]:
    with open(file, "rb") as f:
        start = f.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        text = f.read(size) if 2 <= size <= MOST_HEADER_BYTES else b""
    try:
        header = json.loads(text)
        header.pop("__metadata__", None)
        return {n: t for n, t in header.items() if t["data_offsets"][1] >= t["data_offsets"][0]}
    except (ValueError, AttributeError, KeyError, TypeError, IndexError):
        raise ValueError(f"{file}: not a safetensors file") from None


def _natural(name: str) -> list[Any]:
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", name) if p]


def _place(name: str) -> int:
    """0 for what runs first, 2 for what runs last, as far as names tell."""
    top = name.split(".")[0]
    if "embed" in top or top.endswith("_in") or top.startswith("patch"):
        return 0
    return 2 if any(word in top for word in ("out", "final", "head")) else 1


def write(units: Iterable[Unit], order: str, out: Any, scheme: str = "") -> None:
    """The list as `strata offload --modules` reads it. `order` says where the order comes from:
    "executed", "registered" or "guessed"; `scheme` what the units are those of."""
    head = {"format": "strata-modules-1", "order": order, **({"scheme": scheme} if scheme else {})}
    json.dump({**head, "modules": [u.as_dict() for u in units]}, out, indent=1)
    out.write("\n")


# ---- how fast this machine copies ----


def calibrate(device: str = "cuda", megabytes: int = 64, rounds: int = 12,
              parts: int = 8) -> dict[str, Any]:
    """Rates of copies from pageable and from pinned memory to the device and back, with their
    spread, and the cost of a small copy. Takes about a second. Pageable copies walk through a pool
    of `parts` times `megabytes`, which no cache of a CPU holds: nor does it hold weights."""
    import torch
    kind = torch.device(device).type
    backend = getattr(torch, kind, None)
    if kind == "cpu" or backend is None or not backend.is_available():
        raise RuntimeError(f"there is no {kind} device, so copies to it cannot be timed. Calibrate where "
                           "the model will run, or give --pageable-gbps and --pinned-gbps")

    def timed(work: Callable[[], Any]) -> float:
        backend.synchronize()
        begin = time.perf_counter()
        work()
        backend.synchronize()
        return time.perf_counter() - begin

    size = megabytes * 1_000_000
    touch = 0.0
    pool: Any
    for _ in range(2):  # the second pool is memory as a program gets it back from the system
        pool = None
        pool = torch.empty(size * parts, dtype=torch.uint8)
        begin = time.perf_counter()
        ctypes.memset(pool.data_ptr(), 1, len(pool))  # one thread, as a copy; no faults later
        touch = len(pool) / (time.perf_counter() - begin) / 1e9
    pageable = list(pool.split(size))
    pinned = pageable[0].pin_memory()
    on_device = torch.empty(size, dtype=torch.uint8, device=device)

    def rate(copy: Callable[[int], Any]) -> dict[str, float]:
        seconds = [timed(functools.partial(copy, i)) for i in range(rounds + 2)]
        return spread([size / s / 1e9 for s in seconds[2:]])

    rates = {"pageable": rate(lambda i: on_device.copy_(pageable[i % parts], non_blocking=True)),
             "pinned": rate(lambda i: on_device.copy_(pinned, non_blocking=True)),
             "to_host": rate(lambda i: pageable[i % parts].copy_(on_device))}
    small, target = pool[:4096], on_device[:4096]
    calls = sorted(timed(lambda: target.copy_(small)) for _ in range(50))
    return {"device": backend.get_device_name() if hasattr(backend, "get_device_name") else kind,
            "rates": rates, "first_touch_gb_per_s": round(touch, 3),
            "call_us": round(calls[len(calls) // 2] * 1e6, 1), "bytes": size, "rounds": rounds}


def spread(values: list[float]) -> dict[str, float]:
    """Median, tenth and ninetieth percentile (nearest rank)."""
    values = sorted(values)

    def at(share: float) -> float:
        return values[max(0, -(-int(share * 100) * len(values) // 100) - 1)]

    return {"gb_per_s": round(at(0.5), 3), "p10_gb_per_s": round(at(0.1), 3),
            "p90_gb_per_s": round(at(0.9), 3)}


# ---- the command ----


def _load(entry: str) -> tuple[Any, Callable[[], Any] | None]:
    """What "package.module:factory" makes: a model or pipeline, or that and a way to run it."""
    module, _, name = entry.partition(":")
    if not name:
        raise ValueError(f"{entry}: neither a .safetensors file nor package.module:factory")
    sys.path.insert(0, "")
    made = getattr(importlib.import_module(module), name)()
    return made if isinstance(made, tuple) else (made, None)


def _list(args: argparse.Namespace) -> None:
    if Path(args.target).exists():
        units, order = read_safetensors(args.target), "guessed"
    else:
        target, run = _load(args.target)
        units = list_modules(target, args.scheme, run, args.blocks_per_group)
        order = "registered" if run is None else "executed"
    with open(args.output, "w", encoding="utf-8") if args.output else sys.stdout as out:
        write(units, order, out, "" if order == "guessed" else args.scheme)
    total = sum(u.bytes for u in units)
    print(f"strata: {len(units)} modules, {total / 1e9:.2f} GB, order {order}", file=sys.stderr)


def _calibrate(args: argparse.Namespace) -> None:
    found = calibrate(args.device)
    with open(args.output, "w", encoding="utf-8") if args.output else sys.stdout as out:
        json.dump(found, out, indent=1)
        out.write("\n")
    for name, rate in found["rates"].items():
        print(f"strata: {name} {rate['gb_per_s']:.1f} GB/s "
              f"({rate['p10_gb_per_s']:.1f} to {rate['p90_gb_per_s']:.1f})", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m strata.offload", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    listing = commands.add_parser("list", help="list the modules of a model with their bytes")
    listing.add_argument("target", help=".safetensors file or folder, or package.module:factory")
    listing.add_argument("--scheme", choices=SCHEMES, default="sequential")
    listing.add_argument("--blocks-per-group", type=int, default=1)
    listing.set_defaults(run=_list)
    measure = commands.add_parser("calibrate", help="measure how fast this machine copies")
    measure.add_argument("--device", default="cuda")
    measure.set_defaults(run=_calibrate)
    for command in (listing, measure):
        command.add_argument("-o", "--output", help="file to write (default: standard output)")
    return parser


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        args.run(args)
    except (ValueError, RuntimeError, OSError, ImportError, AttributeError) as e:
        print(f"strata: {e}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
