"""Which lines and operators Inductor's kernels come from, for a timeline.

Inductor writes the code of a compiled graph to a file and loads it, also when it finds it in its cache.
Above each kernel that file names the operators that were fused, and beside the code Inductor keeps the
stack of the operator that each part of it was made for. Both are read once, when the file is loaded:
nothing of torch's is switched on for it, so its cache stays as it was.

Kernels for the CPU are written later than what they were made for, so their lines are not taken."""
from __future__ import annotations

import bisect
import ctypes
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from strata._base import PACKAGE

LIBRARY = "libstrata_inject.so"
MOST_SOURCES = 50_000  # of a process
MOST_TEXT = 16 << 20   # bytes of one file
MOST_OPS = 400         # characters of the operators of one kernel

_OPERATORS = re.compile(r"^\s*# .*\bOriginal ATen: \[?([^\]\n]*)\]?")
_DEFINED = re.compile(r"^(triton_\w+) = async_compile\.")
_CALLED = re.compile(r"^\s+(triton_\w+)\.run\(")
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+), in (.+?)\s*$', re.MULTILINE)

_known: set[str] = set()  # what was handed over: definitions stay in a recording


def _place(stack: Any) -> str:
    """FILE(LINE): FUNCTION of the innermost frame of a stack."""
    frames = _FRAME.findall(stack) if isinstance(stack, str) else []
    if not frames:
        return ""
    file, line, function = frames[-1]
    return f"{file}({line}): {function}"


def sources(text: str, lines: Sequence[tuple[int, Any]]) -> Iterator[tuple[str, str, str]]:
    """(kernel, operators, FILE(LINE): FUNCTION) of the kernels of a file: one for every line of the
    program that one was made for. `lines` are the numbers of lines, rising, and the stack from there on."""
    numbers, operators, last = [number for number, _ in lines], {}, ""
    seen = set()
    for number, line in enumerate(text.splitlines(), 1):
        if "Original ATen" in line:
            found = _OPERATORS.match(line)
            last = found[1].strip()[:MOST_OPS] if found else last
        elif "triton_" in line:
            defined = _DEFINED.match(line)
            if defined:
                operators[defined[1]], last = last, ""
            called = _CALLED.match(line)
            at = bisect.bisect_right(numbers, number) - 1 if called else -1
            place = _place(lines[at][1]) if at >= 0 else ""
            if called and place and (called[1], place) not in seen:
                seen.add((called[1], place))
                yield called[1], operators.get(called[1], ""), place


def _library() -> Any:
    """The library of the timeline, where it is loaded; else None."""
    path = os.environ.get("STRATA_INJECT") or os.path.join(PACKAGE, LIBRARY)
    try:
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        library.strata_inject_source.argtypes = [ctypes.c_char_p]
        library.strata_inject_source.restype = None
        return library
    except (OSError, AttributeError):
        return None


def _tell(path: str, lines: Sequence[tuple[int, Any]]) -> None:
    library = _library()
    if library is None or not lines or len(_known) >= MOST_SOURCES or os.path.getsize(path) > MOST_TEXT:
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for source in sources(text, lines):
        line = "\t".join((os.path.basename(path), *source))
        if line not in _known:
            _known.add(line)
            library.strata_inject_source(line.encode())


def _try(path: Any, lines: Any) -> None:
    """Whatever goes wrong here is dropped; the program goes on."""
    try:
        _tell(os.fspath(path), sorted((int(number), stack) for number, stack in lines))
    except Exception:
        pass


def _loaded_before(cache: Any) -> None:
    """What was compiled before the recording began. Torch keeps lines and stacks apart."""
    for path, pair in list(getattr(cache, "linemaps", {}).items()):
        if isinstance(pair, (list, tuple)) and len(pair) == 2:
            _try(path, zip(*pair))


def watch(codecache: Any) -> tuple[Any, str, Any] | None:
    """Of torch._inductor.codecache, once it is loaded: what to replace, by which name, and with what."""
    cache = codecache.PyCodeCache
    _loaded_before(cache)
    bound = cache.load_by_key_path
    if hasattr(bound, "strata_derived"):
        return None

    def load_by_key_path(
        cls: Any, key: str, path: str, linemap: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        module = bound(key, path, linemap, *args, **kwargs)
        if linemap:
            _try(path, linemap)
        return module

    load_by_key_path.strata_derived = True  # type: ignore[attr-defined]
    return cache, "load_by_key_path", classmethod(load_by_key_path)


def _forget() -> None:
    """In a forked child, which records to files of its own."""
    _known.clear()


os.register_at_fork(after_in_child=_forget)
