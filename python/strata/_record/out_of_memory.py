"""What holds the memory of a device at the moment it runs out, under `strata run`.

torch calls its observers then and at no other time, so a program that fits pays nothing. What Python can
reach is summed up by what it is for (weights, gradients, states of optimizers, other tensors) and by
module; the rest is what autograd keeps for the backward pass, and what libraries hold. The state of the
allocator goes to a file that `strata memory` reads."""
from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from strata._base import PACKAGE, on_import, run_files, settings
from strata._base.units import size

MOST_KEPT = 2  # of a process: a program may run out on purpose, again and again
MOST_ROWS = 20
MOST_FRAMES = 64

_kept = 0


def _is_on(tensor: Any, device: int) -> bool:
    return bool(tensor.is_cuda) and tensor.get_device() == device


class _Held:
    """Bytes of one device by what they are for. A storage counts once, for the first holder."""

    def __init__(self, torch: Any, device: int) -> None:
        self.torch, self.device = torch, device
        self.seen: set[int] = set()
        self.purposes: dict[str, int] = {}
        self.modules: dict[str, int] = {}
        self.others: dict[tuple[str, str], list[int]] = {}

    def take(self, tensor: Any, purpose: str) -> int:
        """Its bytes, if none has counted them; 0 for tensors elsewhere."""
        try:
            if not _is_on(tensor, self.device):
                return 0
            storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
            at, n = storage.data_ptr(), storage.nbytes()
        except Exception:
            return 0  # a tensor without a storage of its own
        if not at or at in self.seen:
            return 0
        self.seen.add(at)
        self.purposes[purpose] = self.purposes.get(purpose, 0) + n
        return n

    def take_other(self, tensor: Any) -> None:
        n = self.take(tensor, "other tensors")
        if n:
            row = self.others.setdefault((str(list(tensor.shape)), str(tensor.dtype)[6:]), [0, 0])
            row[0] += 1
            row[1] += n


def _alive(kind: type) -> list[Any]:
    """Objects by their type alone: asking some for their class runs code of theirs."""
    return [found for found in gc.get_objects() if issubclass(type(found), kind)]


def _outermost(modules: list[Any]) -> list[Any]:
    inside = {id(child) for module in modules for child in module._modules.values() if child is not None}
    return [module for module in modules if id(module) not in inside]


def _parts(module: Any) -> Iterator[tuple[str, Any]]:
    """What a module consists of; a list of layers says how many they are."""
    for name, child in module.named_children():
        if type(child).__name__ in ("ModuleList", "Sequential", "ModuleDict"):
            yield f"{name} ({len(child)})", child
        else:
            yield name, child


def _sum_up(torch: Any, device: int) -> _Held:
    held = _Held(torch, device)
    for module in _outermost(_alive(torch.nn.Module)):
        top = type(module).__name__
        for name, child in [*_parts(module), ("", module)]:
            n = sum(held.take(t, "weights") for t in (*child.parameters(), *child.buffers()))
            n += sum(held.take(p.grad, "gradients") for p in child.parameters() if p.grad is not None)
            if n:
                label = f"{top}.{name}" if name else top
                held.modules[label] = held.modules.get(label, 0) + n
    for optimizer in _alive(torch.optim.Optimizer):
        for state in list(optimizer.state.values()):
            for value in (state.values() if isinstance(state, dict) else ()):
                if isinstance(value, torch.Tensor):
                    held.take(value, "optimizer")
    for tensor in _alive(torch.Tensor):
        held.take_other(tensor)
    return held


def _frames() -> Iterator[Any]:
    """Of this thread, innermost first, none of ours."""
    frame: FrameType | None = sys._getframe(1)
    n = 0
    while frame is not None and n < MOST_FRAMES:
        if frame.f_code.co_filename != __file__:
            n += 1
            yield frame
        frame = frame.f_back


def _is_users(torch: Any, file: str) -> bool:
    """By where the packages lie: a program may stand in a folder of the same name."""
    return not file.startswith(("<", os.path.dirname(torch.__file__) + os.sep, PACKAGE + os.sep))


def _where(torch: Any) -> tuple[list[str], str, str]:
    """The stack; the innermost line outside torch; and the module that was called, as "Net.layers.3"."""
    stack, line, module, path = [], "", None, ""
    for frame in _frames():
        code = frame.f_code
        stack.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        if not line and _is_users(torch, code.co_filename):
            line = f"{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}"
        if code.co_name != "forward" or code.co_argcount == 0:
            continue
        owner = frame.f_locals.get(code.co_varnames[0])
        if not issubclass(type(owner), torch.nn.Module):
            continue
        if module is None:
            module, path = owner, type(owner).__name__
            continue
        name = next((name for name, child in owner.named_modules() if child is module), "")
        path = f"{type(owner).__name__}.{name}" if name else path
    return stack, line, path


def _rows(found: dict[str, int]) -> list[dict[str, Any]]:
    rows = sorted(found.items(), key=lambda row: -row[1])[:MOST_ROWS]
    return [{"name": name, "bytes": n} for name, n in rows]


def describe(torch: Any, device: int, asked: int, total: int, free: int) -> dict[str, Any]:
    """What goes into the file; see docs/format/run.md."""
    stats = torch.cuda.memory_stats(device)
    allocated = stats.get("allocated_bytes.all.current", 0)
    reserved = stats.get("reserved_bytes.all.current", 0)
    held = _sum_up(torch, device)
    stack, line, module = _where(torch)
    unknown = allocated - sum(held.purposes.values())
    purposes = dict(held.purposes)
    if unknown > 0:
        purposes["kept for the backward pass, or by libraries"] = unknown
    others = sorted(held.others.items(), key=lambda row: -row[1][1])[:MOST_ROWS]
    return {"device": device, "asked_bytes": asked, "total_bytes": total, "free_bytes": free,
            "allocated_bytes": allocated, "reserved_bytes": reserved,
            "unused_bytes": reserved - allocated, "line": line, "module": module,
            "held_by_purpose": _rows(purposes), "held_by_module": _rows(held.modules),
            "other_tensors": [{"shape": shape, "dtype": dtype, "count": n, "bytes": total_bytes}
                              for (shape, dtype), (n, total_bytes) in others],
            "stack": stack}


def sentence(found: dict[str, Any]) -> str:
    """For people, in two lines."""
    where = found["line"] + (f" ({found['module']})" if found["module"] else "")
    purposes = ", ".join(f"{size(row['bytes'])} {row['name']}" for row in found["held_by_purpose"][:4])
    return (f"out of memory on GPU {found['device']}{' at ' + where if where else ''}: "
            f"{size(found['asked_bytes'])} asked for, {size(found['free_bytes'])} of "
            f"{size(found['total_bytes'])} free, {size(found['unused_bytes'])} held but not in use\n"
            f"strata: in use: {purposes or 'nothing'}")


def _keep(torch: Any, found: dict[str, Any]) -> str | None:
    """Both files, the summary first: memory of the host may be short as well."""
    path = run_files.claim("out_of_memory.json")
    if path is None or not run_files.write_json(path, found):
        return None
    snapshot = run_files.claim("out_of_memory.pickle")
    if snapshot is not None:
        with open(snapshot, "wb") as file:
            pickle.dump(torch.cuda.memory._snapshot(), file)
    return snapshot


def _ran_out(torch: Any, device: int, asked: int, total: int, free: int) -> None:
    global _kept
    if _kept >= MOST_KEPT:
        return
    _kept += 1
    try:
        found = describe(torch, device, asked, total, free)
        kept = _keep(torch, found)
        settings.say(sentence(found) + (f"\nstrata: more: strata memory {kept}" if kept else ""))
    except Exception as why:
        settings.say(f"out of memory on GPU {device}; what holds it is not known: {why!r}")


def _torch_is_there(torch: Any) -> None:
    attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
    if attach is None:
        return

    def ran_out(device: int, asked: int, total: int, free: int) -> None:
        _ran_out(torch, device, asked, total, free)

    torch.cuda._lazy_call(lambda: attach(ran_out))  # when the program uses its first device


def begin() -> None:
    """Called once, when recording starts."""
    if settings.flag("STRATA_AUTO", False):  # under strata run
        on_import.when_imported("torch", _torch_is_there)
