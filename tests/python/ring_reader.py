"""Reads the files of a recording (src/format/ring.h) without Strata, for tests that compare."""
from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HEAD, BLOCK, VALUE, WIDE = 4096, 8192, 255, 16
KINDS = {"begin": 1, "end": 2, "instant": 3, "thread": 21, "stack": 31, "stack_of": 32}


class Record(NamedTuple):
    kind: int
    ticks: int
    name: int
    category: int
    type: int
    value: int

    @property
    def id(self) -> int:
        return self.name | self.category << 16


class Frame(NamedTuple):
    parent: int
    code: str
    module: str
    line: int


def records(ring: Path) -> Iterator[Record]:
    data = ring.read_bytes()
    (n_logged,) = struct.unpack_from("<Q", data, 32)
    (n_written,) = struct.unpack_from("<Q", data, 64)
    pending = None
    for i in range(n_written):
        at = HEAD + BLOCK * 16 + i * 16 if i < n_logged else HEAD + i % BLOCK * 16
        ticks, name, category, kind, type_, _ = struct.unpack_from("<QHHBBH", data, at)
        if kind == VALUE:
            yield Record(*pending, ticks)
        elif kind >= WIDE:
            pending = (kind, ticks, name, category, type_)
        elif kind:
            yield Record(kind, ticks, name, category, type_, 0)


def strings(proc: Path) -> dict[int, str]:
    data = proc.read_bytes()
    (n,) = struct.unpack_from("<Q", data, 96)
    found, at = {}, HEAD
    while at < HEAD + n:
        id_, length = struct.unpack_from("<II", data, at)
        found[id_] = data[at + 8:at + 8 + length].decode()
        at += (8 + length + 7) & ~7
    return found


def frames(defs: Path) -> dict[int, Frame]:
    data = defs.read_bytes()
    (n,) = struct.unpack_from("<Q", data, 24)
    texts, found, at = {0: ""}, {}, HEAD
    while at < HEAD + n:
        id_, type_, length, _ = struct.unpack_from("<IIII", data, at)
        body = data[at + 16:at + 16 + length]
        if type_ in (5, 6):
            texts[id_] = body.decode()
        elif type_ == 7:
            parent, code, module, line = struct.unpack("<IIII", body)
            found[id_] = Frame(parent, texts[code], texts[module], line)
        at += (16 + length + 7) & ~7
    return found


def stack(frames_: dict[int, Frame], id_: int) -> list[Frame]:
    """Innermost first."""
    out = []
    while id_:
        out.append(frames_[id_])
        id_ = frames_[id_].parent
    return out
