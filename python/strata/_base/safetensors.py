"""Tensors in a file others can read: safetensors, which is a length, a JSON head and the bytes. Read
and written here, so that nothing needs to be installed."""
from __future__ import annotations

import json
import struct
from typing import Any

MOST_HEAD_BYTES = 100_000_000
NAMES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64",
         "int32": "I32", "int16": "I16", "int8": "I8", "uint8": "U8", "uint16": "U16",
         "uint32": "U32", "uint64": "U64", "bool": "BOOL", "complex64": "C64",
         "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0"}


def write(path: str, tensors: dict[str, Any], metadata: dict[str, str]) -> None:
    """Writes tensors, wherever they are; ValueError for a type the format has no name for."""
    head: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    parts, at = [], 0
    for name, t in tensors.items():
        dtype = str(t.dtype).removeprefix("torch.")
        if dtype not in NAMES:
            raise ValueError(f"{name}: safetensors files have no {dtype}")
        data = _bytes(t)
        head[name] = {"dtype": NAMES[dtype], "shape": list(t.shape),
                      "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for data in parts:
            out.write(data)


def _bytes(t: Any) -> Any:
    import torch
    plain = t.detach().cpu().contiguous().reshape(-1)
    if plain.numel() == 0:
        return b""
    return memoryview(plain.view(torch.uint8).numpy())


def read(path: str) -> tuple[dict[str, Any], dict[str, str]]:
    """(tensors on the CPU by name, metadata); ValueError when it is not such a file."""
    import torch
    with open(path, "rb") as f:
        data = bytearray(f.read())
    size = struct.unpack_from("<Q", data)[0] if len(data) >= 8 else 0
    if not 2 <= size <= min(len(data) - 8, MOST_HEAD_BYTES):
        raise ValueError(f"{path}: not a safetensors file")
    try:
        head = json.loads(data[8:8 + size])
        metadata = head.pop("__metadata__", {})
        return {name: _tensor(torch, data, 8 + size, d) for name, d in head.items()}, metadata
    except (KeyError, TypeError, AttributeError, RuntimeError, json.JSONDecodeError) as why:
        raise ValueError(f"{path}: not a safetensors file: {why}") from why


def _tensor(torch: Any, data: bytearray, base: int, d: dict[str, Any]) -> Any:
    names = {short: name for name, short in NAMES.items()}
    dtype = getattr(torch, names[d["dtype"]])
    begin, end = d["data_offsets"]
    if begin == end:
        return torch.empty(d["shape"], dtype=dtype)
    if not 0 <= begin < end <= len(data) - base:
        raise ValueError("a tensor ends outside the file")
    raw = torch.frombuffer(data, dtype=torch.uint8, count=end - begin, offset=base + begin)
    return raw.clone().view(dtype).reshape(d["shape"])
