"""Signatures by TeleFuser's keys, beside those of strata, which say more: the range of indices, strides,
torch's modes."""
from __future__ import annotations

from typing import Any

PLAIN = (bool, int, float, str)


class _Keyed(dict[str, Any]):
    """A dict whose keys are attributes, too, as they are in TeleFuser."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def to_dict(self) -> dict[str, Any]:
        return dict(self)


class TensorSignature(_Keyed):
    """shape, dtype, device, requires_grad."""


class StageIOSignature(_Keyed):
    """stage_name, input_signatures, output_signature, metadata; `signatures` are strata's own."""


def _value(d: dict[str, Any]) -> Any:
    """One description of strata as TeleFuser has it."""
    kind = d["kind"]
    if kind == "tensor":
        return TensorSignature((key, d[key]) for key in ("shape", "dtype", "device", "requires_grad"))
    if kind == "value":
        return d["value"]
    if kind in ("list", "tuple"):
        items = [_value(item) for item in d["items"]]
        if items and all(isinstance(item, TensorSignature) for item in items):
            return items
        return f"list[{type(items[0]).__name__ if items else ''}]"
    return str(d.get("type", kind)).rpartition(".")[2]


def theirs(name: str, found: dict[str, Any]) -> StageIOSignature:
    """What strata has seen of a stage, by TeleFuser's keys: of several signatures the newest."""
    newest = found["signatures"][-1]
    inputs = {key: _value(d) for key, d in newest["inputs"].items()}
    output = _value(newest["output"])
    return StageIOSignature(
        stage_name=name, input_signatures=inputs,
        output_signature=output if isinstance(output, TensorSignature) else None,
        metadata={key: v for key, v in inputs.items() if newest["inputs"][key]["kind"] == "value"
                  and isinstance(v, PLAIN)}, **found)


def _described(value: Any) -> dict[str, Any]:
    """A value of TeleFuser's signatures in the words of strata's."""
    if isinstance(value, dict) and "shape" in value:
        return {"kind": "tensor", "stride": None, "device": "cpu", "requires_grad": False, **value,
                "dtype": str(value.get("dtype", "float32")).removeprefix("torch.")}
    if isinstance(value, list):
        return {"kind": "list", "items": [_described(v) for v in value]}
    return {"kind": "value", "value": value}


def ours(given: dict[str, Any]) -> dict[str, Any]:
    """The signature that inputs are made from. What strata has recorded counts where it still says the
    same as TeleFuser's keys do: those are what people edit."""
    if "inputs" in given:
        return given
    recorded = given["signatures"][-1] if given.get("signatures") else {"inputs": {}}
    if "input_signatures" not in given:
        return recorded
    known = recorded["inputs"]
    wanted = {**given.get("metadata", {}), **given["input_signatures"]}
    inputs = {name: known[name] if name in known and _value(known[name]) == value else _described(value)
              for name, value in wanted.items()}
    return {**recorded, "inputs": inputs}
