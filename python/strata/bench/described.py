"""What a signature file has to look like. It may come from a stranger, so it is checked once,
when it is read; its users then find every field there and of its type."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

DEEPEST = 60
MOST_DIMENSIONS = 64
MOST = 2**62  # of a number of elements, and of calls


def _text(v: Any) -> bool:
    return isinstance(v, str)


def _count(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool) and 0 <= v < MOST


def _word(v: Any) -> bool:
    return v is None or isinstance(v, (str, int, float))


def _sizes(v: Any) -> bool:
    if not isinstance(v, list) or len(v) > MOST_DIMENSIONS or not all(_count(n) for n in v):
        return False
    elements = 1
    for n in v:
        elements *= n
    return elements < MOST


def _steps(v: Any) -> bool:
    return v is None or (isinstance(v, list) and all(_count(n) for n in v))


def _span(v: Any) -> bool:
    return isinstance(v, list) and len(v) == 2 and all(
        isinstance(n, (int, float, str)) and not isinstance(n, bool) for n in v)


def _words(v: Any) -> bool:
    return isinstance(v, list) and all(_word(w) and w is not None for w in v)


def _list(v: Any) -> bool:
    return isinstance(v, list)


def _pairs(v: Any) -> bool:
    return isinstance(v, list) and all(
        isinstance(p, list) and len(p) == 2 and _word(p[0]) for p in v)


def _by_name(v: Any) -> bool:
    return isinstance(v, dict)


def _yes_or_no(v: Any) -> bool:
    return isinstance(v, bool)


def _mode(v: Any) -> bool:
    autocast = v.get("autocast", {}) if isinstance(v, dict) else None
    return isinstance(autocast, dict) and all(_text(d) for d in autocast.values())


def _state(v: Any) -> bool:
    return isinstance(v, dict) and isinstance(v.get("attributes", {}), dict) and _text(
        v.get("type", "")) and isinstance(v.get("hooks", {}), dict)


Fields = dict[str, Callable[[Any], bool]]
MUST: dict[str, Fields] = {
    "tensor": {"shape": _sizes, "dtype": _text, "device": _text},
    "value": {"value": _word},
    "list": {"items": _list}, "tuple": {"items": _list}, "set": {"items": _list},
    "frozenset": {"items": _list}, "dict": {"items": _pairs},
    "dataclass": {"type": _text, "fields": _by_name},
    "dtype": {"value": _text}, "device": {"value": _text}, "generator": {"device": _text},
    "object": {"type": _text},
}
MAY: Fields = {"type": _text, "length": _count, "stride": _steps, "range": _span, "values": _words,
               "layout": _text, "stored": _text, "requires_grad": _yes_or_no}
SIGNATURE: Fields = {"count": _count, "mode": _mode, "state": _state}


def _wrong(d: dict[str, Any], must: Fields, may: Fields) -> str | None:
    for name, fits in must.items():
        if name not in d:
            return f"it has no {name!r}"
        if not fits(d[name]):
            return f"its {name!r} is not valid"
    for name, fits in may.items():
        if name in d and not fits(d[name]):
            return f"its {name!r} is not valid"
    return None


def _inner(d: dict[str, Any]) -> Iterator[Any]:
    if d["kind"] == "dict":
        yield from (v for _, v in d["items"])
    else:
        yield from d.get("items", []) if d["kind"] != "tensor" else []
    if d["kind"] == "dataclass":
        yield from d["fields"].values()


def _description(d: Any, depth: int = 0) -> str | None:
    if not isinstance(d, dict):
        return "it is not an object"
    if depth > DEEPEST:
        return "it is nested too deeply"
    kind = d.get("kind")
    if not _text(kind) or kind not in MUST:
        return f"its kind is {kind!r}"
    wrong = _wrong(d, MUST[kind], MAY)
    if wrong is None and kind == "tensor" and d.get("stride") and len(d["stride"]) != len(d["shape"]):
        return "its 'stride' does not fit its 'shape'"
    return wrong or next((w for v in _inner(d) if (w := _description(v, depth + 1))), None)


def _signature(s: Any) -> str | None:
    if not isinstance(s, dict):
        return "a signature is not an object"
    wrong = _wrong(s, {"inputs": _by_name}, SIGNATURE)
    if wrong:
        return f"a signature is not valid: {wrong}"
    described = [*s["inputs"].items(), *s.get("state", {}).get("attributes", {}).items()]
    described += [("output", s["output"])] if "output" in s else []
    for name, d in described:
        wrong = _description(d)
        if wrong:
            return f"{name!r} is not a description: {wrong}"
    return None


def problem(stages: dict[str, Any]) -> str | None:
    """What is wrong with the stages of a signature file; None where nothing is."""
    for path, stage in stages.items():
        found = stage.get("signatures", []) if isinstance(stage, dict) else None
        if not isinstance(found, list):
            return f"stage {path!r} is not valid"
        wrong = next((w for s in found if (w := _signature(s))), None)
        if wrong:
            return f"stage {path!r}: {wrong}"
    return None
