"""What goes into a stage and comes out of it, in a form that rebuilds valid inputs without the
program: shapes, strides, types and devices of tensors, the range of values where they are indices
or masks, plain values as they are, containers and dataclasses with their structure.

    {"kind": "tensor", "shape": [1, 77], "stride": [77, 1], "dtype": "int64", "device": "cpu",
     "requires_grad": false, "range": [0, 49407]}
    {"kind": "tuple", "items": [...]}     list, set          {"kind": "dict", "items": [[k, v], ...]}
    {"kind": "dataclass", "type": "module.Name", "fields": {...}}
    {"kind": "value", "value": 0.7, "range": [0.1, 0.7]}   int, float: one of them, and the range
    {"kind": "value", "value": "euler"}   None, bool, str; dtype, device, generator of torch alike
    {"kind": "value", "value": "(hidden)", "hidden": 41}   a text of 41 characters, not recorded
    {"kind": "object", "type": "module.Name"}                what cannot be rebuilt

The file is made to be handed on, so texts are recorded only where they are known to be harmless: words
as names of modes are made of, and nothing below a name that says it is a secret.

Looking at arguments runs none of the program's code: only arrays and containers of known libraries are
looked into, by their type and never by asking the value for an attribute it may compute.

Values, of numbers and of small tensors ("values"), are those of the second call where there is one:
the first often does more. Beside inputs and output stands what else the call depended on: "mode"
(grad, inference, autocast), "function" (what was called) and "state" (see call_state.py).

Two calls have the same signature when only numbers and what is in tensors differ. Looking at
arguments costs microseconds, so it has a budget: always for the first calls of a stage, then only
while it has taken less than 1 % of the time since. Beyond that a glance at types and shapes
decides: a call that looks like none before it is examined, whenever it comes."""
from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import sys
import threading
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

from strata._base import device, settings
from strata._base.secrets import HIDDEN, is_harmless, is_secret
from strata._record import call_state, held

_wanted = settings.flag("STRATA_TEST_SIGNATURES", True)

FREE_CALLS = 16
SHARE = 0.01
MOST_SIGNATURES = 64  # a stage; further ones are only counted
MOST_ITEMS = 64  # of a container
LONGEST_NAME = 24  # of a secret, to be shown
MOST_DEVICE_LOOKS = 3
STATE_CALLS = 2  # of a signature, of which the state is examined
GLANCED_ITEMS = 8  # of a container
SMALL = 16  # elements of a tensor whose values are kept
DEEPEST = 8

# Whose arrays are looked into: a class of another module may compute a value when it is read.
_LIBRARIES = frozenset({"torch", "numpy", "jax", "jaxlib", "torchao", "transformers", "diffusers",
                        "accelerate", "bitsandbytes", "optimum"})
MOST_KINDS = 1024

_WORDS = held.ids(bool, str)
_NUMBERS = held.ids(int, float)
_PLAIN = held.ids(str, int, float, bool, type(None))
_ITEMS = held.ids(list, tuple, set, frozenset)

_device_looks: dict[Any, int] = {}
_array_kinds: dict[int, tuple[type, str]] = {}  # "torch", "other" or "" for types seen, by id
_lock = threading.Lock()
_stages: dict[int, _StageSignatures] = {}  # by node
_resets = 0
_listener: Callable[[], None] | None = None


class _StageSignatures:
    """The distinct signatures seen at one node."""

    def __init__(self) -> None:
        self.seen: dict[Any, dict[str, Any]] = {}
        self.further = 0


class _Copy:
    """A small tensor on its way to the host; nothing waits for it before the program ends."""

    def __init__(self, torch: Any, tensor: Any) -> None:
        self.tensor = tensor
        self.passed: Any = None  # by the device, once the copy is made
        if tensor.device.type == "cuda":
            self.tensor = torch.empty_like(tensor, device="cpu", pin_memory=True)
            self.tensor.copy_(tensor, non_blocking=True)
            self.passed = torch.cuda.Event()
            self.passed.record(torch.cuda.current_stream(tensor.device))

    def is_here(self) -> bool:
        if self.passed is not None:
            return self.passed.query()
        return self.tensor.device.type == "cpu"

    def get(self) -> Any:
        if self.passed is not None:
            self.passed.synchronize()
        return self.tensor.cpu()


class _Range:
    """The least and the largest of some numbers, or of an integer tensor. On a device both are
    still being computed when this is made."""

    def __init__(self, low: Any, high: Any, pending: _Copy | None = None) -> None:
        self.lows, self.highs = [low], [high]
        self.pending = [pending] if pending is not None else []

    def widen(self, other: _Range) -> None:
        self.lows = [min(self.lows + other.lows)]
        self.highs = [max(self.highs + other.highs)]
        self.pending += other.pending

    def is_here(self) -> bool:
        return all(p.is_here() for p in self.pending)

    def known(self) -> list[int | float]:
        for p in self.pending:
            low, high = p.get().tolist()
            self.lows.append(low)
            self.highs.append(high)
        self.pending = []
        return [min(self.lows), max(self.highs)]


class _Values:
    """The values of a small tensor."""

    def __init__(self, torch: Any, tensor: Any) -> None:
        self.copy = _Copy(torch, tensor)

    def is_here(self) -> bool:
        return self.copy.is_here()

    def known(self) -> list[Any]:
        flat = self.copy.get().flatten()
        if flat.dtype.is_floating_point:
            flat = flat.double()
        return [v if math.isfinite(v) else str(v) for v in flat.tolist()]


class _Call:
    """One call whose arguments were examined."""

    __slots__ = ("key", "inputs", "node", "recorder", "around")

    def __init__(self, recorder: Recorder, key: Any, inputs: dict[str, Any],
                 around: dict[str, Any]) -> None:
        self.recorder = recorder
        self.key = key
        self.inputs = inputs
        self.around = around
        self.node = 0

    def after(self, result: Any) -> None:
        """The call has returned `result`."""
        began = time.perf_counter()
        try:
            key, output = _describe(result, 0)
            _add(self, (self.key, key), output)
        except Exception:
            self.recorder.broken = True
        self.recorder.own_seconds += time.perf_counter() - began


def _is_traced() -> bool:
    """Whether torch.jit.trace records what is done to tensors: looking at them would be in it."""
    jit = getattr(sys.modules.get("torch"), "jit", None)
    return jit is not None and jit.is_tracing()


def _array_kind(kind: type) -> str:
    """"torch" for tensors, "other" for arrays of NumPy and JAX, "" for anything else."""
    known = _array_kinds.get(id(kind))
    if known is not None:
        return known[1]
    found = _find_array_kind(kind)
    if len(_array_kinds) < MOST_KINDS:
        _array_kinds[id(kind)] = kind, found  # it stays, so that no other type gets its id
    return found


def _find_array_kind(kind: type) -> str:
    if held.module_of(kind).partition(".")[0] not in _LIBRARIES:
        return ""
    bases = held.ids(*held.bases(kind))
    if id(getattr(sys.modules.get("torch"), "Tensor", None)) in bases:
        return "torch"
    arrays = (getattr(sys.modules.get("numpy"), "ndarray", None),
              getattr(sys.modules.get("jax"), "Array", None))
    named = any(held.type_name(base).endswith(".ArrayImpl") for base in held.bases(kind))
    return "other" if named or any(id(a) in bases for a in arrays if a is not None) else ""


def _glance(values: Iterable[Any], seen: list[Any], depth: int = 0) -> None:
    """What tells most calls apart, in some hundred nanoseconds: types, shapes of tensors, flags."""
    for value in values:
        kind = type(value)
        if kind is int or kind is float or kind is str:
            seen.append(kind)
        elif kind is bool or value is None:
            seen.append(value)
        elif kind is list or kind is tuple or kind is dict:
            seen += (kind, len(value))
            if not depth:
                items = value.values() if kind is dict else value
                _glance(itertools.islice(items, GLANCED_ITEMS), seen, 1)
        else:
            seen += (tuple(value.shape), value.dtype) if _array_kind(kind) else (id(kind),)


class Recorder:
    """Looks at the calls of one function, within its budget."""

    def __init__(self, fn: Callable, owner: Any = None) -> None:
        self.fn = fn
        self.owner = owner if owner is not None else getattr(fn, "__self__", None)
        self.seen: dict[Any, int] = {}  # calls of which the state was examined, by signature
        self.glances: set[Any] = set()
        self.resets = _resets
        self.calls = 0
        self.own_seconds = 0.0
        self.first = 0.0
        self.broken = not _wanted
        self.signature: inspect.Signature | None
        try:
            self.signature = inspect.signature(fn)
        except (TypeError, ValueError):
            self.signature = None

    def before(self, args: tuple, kwargs: dict[str, Any]) -> _Call | None:
        """Looks at the arguments; None when the budget is spent on calls like this one."""
        if self.broken:
            return None
        began = time.perf_counter()
        self.calls += 1
        if self.calls == 1:
            self.first = began
        try:
            if not self._looks_new(args, kwargs) and self._is_spent(began) or _is_traced():
                return None
            mode_key, mode = call_state.mode()
            keys, inputs = [mode_key], {}
            for name, value in self.named(args, kwargs):
                key, inputs[name] = _describe(value, 0, SMALL, is_secret(name))
                keys.append((name, key))
            call = _Call(self, tuple(keys), inputs, self._around(tuple(keys), mode, args))
        except Exception:
            self.broken = True
            return None
        self.own_seconds += time.perf_counter() - began
        return call

    def _is_spent(self, now: float) -> bool:
        return self.calls > FREE_CALLS and self.own_seconds > SHARE * (now - self.first)

    def _looks_new(self, args: tuple, kwargs: dict[str, Any]) -> bool:
        """Whether no call before looked like this one at a glance, while new ones are kept."""
        if self.resets != _resets:
            self.resets = _resets
            self.seen.clear()
            self.glances.clear()
        look: list[Any] = [*kwargs]
        _glance(args, look)
        _glance(kwargs.values(), look)
        seen = tuple(look)
        if seen in self.glances or len(self.glances) >= MOST_SIGNATURES:
            return False
        self.glances.add(seen)
        return True

    def _around(self, key: Any, mode: dict[str, Any], args: tuple) -> dict[str, Any]:
        """What a call depends on besides its arguments; the state only for the first calls."""
        around: dict[str, Any] = {"mode": mode} if mode else {}
        seen = self.seen.get(key, 0)
        if seen >= STATE_CALLS or len(self.seen) >= MOST_SIGNATURES:
            return around
        self.seen[key] = seen + 1
        owner = self.owner if self.owner is not None else self._receiver(args)
        around["function"] = f"{self.fn.__module__}.{self.fn.__qualname__}"
        state = call_state.describe(
            owner, lambda name, value: _describe(value, 0, call_state.MOST_VALUES, is_secret(name))[1])
        return {**around, "state": state} if state else around

    def _receiver(self, args: tuple) -> Any:
        """The object a plain function was called on, when it is a method."""
        first = next(iter(self.signature.parameters), "") if self.signature is not None else ""
        return args[0] if first == "self" and args else None

    def named(self, args: tuple, kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
        """The arguments by name, those of *rest as rest[0], rest[1] ..."""
        if self.signature is None:
            return [(f"arg{i}", a) for i, a in enumerate(args)] + list(kwargs.items())
        bound = self.signature.bind_partial(*args, **kwargs).arguments
        named: list[tuple[str, Any]] = []
        for name, value in bound.items():
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                named.extend(value.items())
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                named.extend((f"{name}[{i}]", v) for i, v in enumerate(value))
            elif not (name == "self" and not named):
                named.append((name, value))
        return named


def listen(action: Callable[[], None]) -> None:
    """Calls `action` when a signature was seen for the first time."""
    global _listener
    _listener = action


def _add(call: _Call, key: Any, output: dict[str, Any]) -> None:
    is_new = False
    with _lock:
        stage = _stages.setdefault(call.node, _StageSignatures())
        entry = stage.seen.get(key)
        if entry is None:
            if len(stage.seen) >= MOST_SIGNATURES:
                stage.further += 1
                return
            entry = stage.seen[key] = {"count": 0, "inputs": call.inputs, "output": output,
                                       **call.around}
            is_new = True
        elif entry["count"] == 1:  # from now on it stands for the second call
            first = dict(entry)
            entry.update(inputs=call.inputs, output=output, **call.around)
            _widen_inputs(entry, first["inputs"], first["output"])
        else:
            _widen_inputs(entry, call.inputs, output)
        entry["count"] += 1
    if is_new and _listener is not None:
        _listener()


def _widen_inputs(entry: dict[str, Any], inputs: dict[str, Any], output: dict[str, Any]) -> None:
    for name, value in inputs.items():
        _widen(entry["inputs"].get(name), value)
    _widen(entry["output"], output)


def _widen(known: Any, new: Any) -> None:
    """Value ranges grow to cover what was seen later; everything else is part of the key."""
    if not isinstance(known, dict) or not isinstance(new, dict):
        return
    if "range" in known:
        if "range" in new:
            known["range"].widen(new["range"])
        return
    for a, b in zip(_parts(known), _parts(new)):
        _widen(a, b)


def _parts(d: dict[str, Any]) -> list[Any]:
    if d.get("kind") == "dict":
        return [v for _, v in d["items"]]
    if d.get("kind") == "dataclass":
        return list(d["fields"].values())
    return d.get("items", [])


def _type_name(value: Any) -> str:
    return held.type_name(type(value))


def _describe(value: Any, depth: int, small: int = SMALL, secret: bool = False) -> tuple[Any, dict[str, Any]]:
    """A hashable key and a JSON description of `value`; values of tensors up to `small` elements, and no
    text or number of what is `secret`."""
    kind = type(value)
    if value is None or id(kind) in _WORDS:
        return _describe_word(value, secret)
    if id(kind) in _NUMBERS:
        return _describe_hidden(kind, 0) if secret else _describe_number(value)
    torch = sys.modules.get("torch")
    if torch is not None and _array_kind(kind) == "torch":
        return _describe_tensor(torch, value, 0 if secret else small)
    if depth >= DEEPEST:
        return _describe_object(value)
    if id(kind) in _ITEMS:
        return _describe_items(value, kind.__name__, depth, small, secret)
    if held.by_type(kind, "__dataclass_fields__") is not None:
        return _describe_fields(value, depth, small, secret)
    if issubclass(kind, dict):
        return _describe_dict(value, depth, small, secret)
    if issubclass(kind, tuple):  # namedtuple
        key, d = _describe_items(tuple(tuple.__iter__(value)), "tuple", depth, small, secret)
        return (_type_name(value), key), {**d, "type": _type_name(value)}
    if torch is not None and (kind is torch.dtype or kind is torch.device):
        return (kind, str(value)), {"kind": kind.__name__, "value": str(value).removeprefix("torch.")}
    if torch is not None and kind is torch.Generator:
        return (kind, str(value.device)), {"kind": "generator", "device": str(value.device)}
    return _describe_object(value)


def _describe_object(value: Any) -> tuple[Any, dict[str, Any]]:
    name = _type_name(value)
    return (name,), {"kind": "object", "type": name}


def _describe_hidden(kind: type, n: int) -> tuple[Any, dict[str, Any]]:
    """A value of the same type stands for it."""
    return (kind, HIDDEN), {"kind": "value", "value": HIDDEN if kind is str else kind(0), "hidden": n}


def _describe_word(value: Any, secret: bool) -> tuple[Any, dict[str, Any]]:
    if isinstance(value, str) and (secret or not is_harmless(value, paths=False)):
        return _describe_hidden(str, len(value))
    return (type(value), value), {"kind": "value", "value": value}


def _describe_number(value: int | float) -> tuple[Any, dict[str, Any]]:
    if not math.isfinite(value):
        return (float, str(value)), {"kind": "value", "value": str(value)}
    if abs(value) > 2**63:
        value = float(value)
    return (type(value),), {"kind": "value", "value": value, "range": _Range(value, value)}


def _describe_tensor(torch: Any, t: Any, small: int) -> tuple[Any, dict[str, Any]]:
    plain = t.layout is torch.strided
    d: dict[str, Any] = {
        "kind": "tensor",
        "shape": [int(n) for n in t.shape],
        "stride": [int(n) for n in t.stride()] if plain else None,
        "dtype": str(t.dtype).removeprefix("torch."),
        "device": str(t.device),
        "requires_grad": bool(t.requires_grad),
    }
    if not plain:
        d["layout"] = str(t.layout).removeprefix("torch.")
    key = ("tensor", tuple(d["shape"]), tuple(d["stride"] or ()), d["dtype"], d["device"],
           d["requires_grad"])
    if plain and not t.dtype.is_complex and _may_look(torch, t, key):
        if not t.dtype.is_floating_point:
            d["range"] = _value_range(torch, t)
        if t.numel() <= small:
            d["values"] = _Values(torch, t.detach().clone())
    return key, d


def _may_look(torch: Any, t: Any, key: Any) -> bool:
    """Whether to look at the values of a tensor. On a device that costs small kernels, so only the
    first tensors of a kind are asked, and none while a graph is captured."""
    if t.numel() == 0 or t.device.type == "meta" or t.is_quantized:
        return False
    if t.device.type == "cpu":
        return True
    if _device_looks.get(key, 0) >= MOST_DEVICE_LOOKS or device.capturing(torch, t.device):
        return False
    _device_looks[key] = _device_looks.get(key, 0) + 1
    return True


def _value_range(torch: Any, t: Any) -> _Range:
    """Of index and mask tensors, so that made-up ones stay valid."""
    with torch.no_grad():
        plain = t.detach()
        if plain.dtype is torch.bool:
            plain = plain.to(torch.uint8)
        low, high = torch.aminmax(plain)
        if t.device.type == "cpu":
            return _Range(int(low), int(high))
        return _Range(math.inf, -math.inf, _Copy(torch, torch.stack((low, high))))


def _describe_items(value: Any, kind: str, depth: int, small: int,
                    secret: bool) -> tuple[Any, dict[str, Any]]:
    items = value
    if kind in ("set", "frozenset") and all(id(type(item)) in _PLAIN for item in value):
        items = sorted(value, key=repr)
    keys, described = [], []
    for i, item in enumerate(items):
        if i == MOST_ITEMS:
            break
        key, d = _describe(item, depth + 1, small, secret)
        keys.append(key)
        described.append(d)
    out: dict[str, Any] = {"kind": kind, "items": described}
    if len(value) > MOST_ITEMS:
        out["length"] = len(value)
    return (kind, len(value), tuple(keys)), out


def _describe_dict(value: dict, depth: int, small: int, secret: bool) -> tuple[Any, dict[str, Any]]:
    keys, described = [], []
    for i, (k, v) in enumerate(dict.items(value)):
        if i == MOST_ITEMS:
            break
        name, hides = _key_name(k)
        key, d = _describe(v, depth + 1, small, secret or hides)
        keys.append((name, key))
        described.append([name, d])
    out: dict[str, Any] = {"kind": "dict", "items": described}
    n = dict.__len__(value)
    if type(value) is not dict:
        out["type"] = _type_name(value)
    if n > MOST_ITEMS:
        out["length"] = n
    return ("dict", n, tuple(keys)), out


def _key_name(key: Any) -> tuple[Any, bool]:
    """A key of a dict as it is recorded, and whether its value is a secret: names as they are, of other
    objects their type. A text that is not a name may be one of the program's data."""
    if type(key) is not str and id(type(key)) in _PLAIN:
        return key, False
    if type(key) is not str:
        return f"<{_type_name(key)}>", False
    if is_secret(key):
        return (key if key.isidentifier() and len(key) <= LONGEST_NAME else HIDDEN), True
    return (key, False) if is_harmless(key, paths=False) else (HIDDEN, True)


def _field(value: Any, name: str) -> Any:
    """A field of a dataclass as it is stored; one that is computed is as good as none."""
    slot = held.by_type(type(value), name)
    if type(slot) is types.MemberDescriptorType:
        try:
            return slot.__get__(value)
        except AttributeError:
            return None
    return held.attributes(value).get(name)


def _field_names(kind: type) -> list[str]:
    """As dataclasses.fields says, which asks the type."""
    fields = held.by_type(kind, "__dataclass_fields__")
    plain = dataclasses._FIELD  # type: ignore[attr-defined]
    return [f.name for f in dict.values(fields)
            if type(f) is dataclasses.Field and f._field_type is plain]  # type: ignore[attr-defined]


def _describe_fields(value: Any, depth: int, small: int, secret: bool) -> tuple[Any, dict[str, Any]]:
    keys, fields = [], {}
    for field in _field_names(type(value)):
        hidden = secret or is_secret(field)
        key, fields[field] = _describe(_field(value, field), depth + 1, small, hidden)
        keys.append((field, key))
    name = _type_name(value)
    return (name, tuple(keys)), {"kind": "dataclass", "type": name, "fields": fields}


def _plain(d: Any, wait: bool = True) -> Any:
    """The description as it goes into a file; values that are not here are left out or waited for."""
    if isinstance(d, (_Range, _Values)):
        return d.known()
    if isinstance(d, dict):
        return {k: _plain(v, wait) for k, v in d.items()
                if wait or not isinstance(v, (_Range, _Values)) or v.is_here()}
    if isinstance(d, list):
        return [_plain(v, wait) for v in d]
    return d


def plain(value: Any, small: int = SMALL) -> dict[str, Any]:
    """The description of one value, ready for JSON."""
    return _plain(_describe(value, 0, small)[1])


def collected(wait: bool = True) -> dict[int, dict[str, Any]]:
    """Everything seen so far, by node, ready for JSON."""
    with _lock:
        return {
            node: {
                "signatures": [_plain(entry, wait) for entry in stage.seen.values()],
                "further_signatures": stage.further,
            }
            for node, stage in _stages.items()
        }


def reset() -> None:
    """Forgets everything seen."""
    global _resets
    with _lock:
        _resets += 1
        _stages.clear()
        _device_looks.clear()
