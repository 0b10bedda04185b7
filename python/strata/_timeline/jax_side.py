"""What only JAX's Python side knows of a timeline: when the program waits for a value, and which lines
XLA's kernels were made of.

JAX waits on threads of its own, so that the thread of the program makes no call of the driver: its
arrays say themselves when they are read. A compiled function has the lines in its HLO, which is read
once, after it was compiled.

Loaded by `strata run` before the program, without the package: it imports nothing of it. Whatever goes
wrong here is dropped; the program goes on."""
from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

MOST_SOURCES = 50_000  # of a process
MOST_TEXT = 64 << 20  # bytes of one HLO

_library: Any = None
_n_sources = 0


def _door() -> Any:
    """The library of the timeline with the GIL kept, once the driver has loaded it; else None."""
    global _library
    if _library is None:
        try:
            library = ctypes.PyDLL(os.environ["STRATA_INJECT"], mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            library.strata_inject_wait_begin.restype = ctypes.c_uint64
            library.strata_inject_wait_begin.argtypes = []
            library.strata_inject_wait_end.restype = None
            library.strata_inject_wait_end.argtypes = [ctypes.c_uint64, ctypes.c_char_p]
            library.strata_inject_source.restype = None
            library.strata_inject_source.argtypes = [ctypes.c_char_p]
            _library = library
        except (OSError, AttributeError, KeyError):
            return None
    return _library


def _as_part_of(module: Any, function: Any, name: str) -> Any:
    """Lets a function of ours stand in stacks as one of the library's: it is not the user's code."""
    function.__code__ = function.__code__.replace(co_filename=module.__file__, co_name=name, co_firstlineno=1)
    return function


def _reader(inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Reads the value of an array; the method that asks for it gives the wait its name."""
    frame_of = sys._getframe

    def _value(self: Any) -> Any:
        library = _library or _door()
        if library is None or getattr(self, "_npy_value", None) is not None:
            return inner(self)
        caller = frame_of(1).f_code.co_name
        begin = library.strata_inject_wait_begin()
        try:
            return inner(self)
        finally:
            asked = caller if caller[:2] == "__" or caller in ("tolist", "tobytes") else "value"
            library.strata_inject_wait_end(begin, b"jax.Array." + asked.encode())

    return _value


def _blocker(inner: Callable[..., Any]) -> Callable[..., Any]:
    def block_until_ready(*args: Any, **options: Any) -> Any:
        library = _library or _door()
        if library is None:
            return inner(*args, **options)
        begin = library.strata_inject_wait_begin()
        try:
            return inner(*args, **options)
        finally:
            library.strata_inject_wait_end(begin, b"jax.block_until_ready")

    return block_until_ready


def watch_waits(module: Any) -> None:
    """Of jax._src.array, when it is loaded."""
    array = module.ArrayImpl
    value = array._value
    reader = _as_part_of(module, _reader(value.fget), "_value")
    array._value = property(reader, value.fset, value.fdel, value.__doc__)
    array.block_until_ready = _as_part_of(module, _blocker(array.block_until_ready), "block_until_ready")
    client: Any = getattr(module, "xc", None)
    many = getattr(client, "batched_block_until_ready", None)
    if many is not None:
        client.batched_block_until_ready = _as_part_of(module, _blocker(many), "batched_block_until_ready")


_TABLE = re.compile(r"^(\d+) (.*)$")
_NUMBER = re.compile(r"(\w+)=(\d+)")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) .*\{$")
_INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = .*?[\])}] ([\w\-]+)\(")
_CALLS = re.compile(r"(?:calls|to_apply)=%?([\w.\-]+)")
_OP_NAME = re.compile(r'op_name="([^"]*)"')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_FILE = re.compile(r'source_file="([^"]*)"(?: source_line=(\d+))?')
_NOT_KERNELS = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "call",
                "conditional", "after-all", "partition-id", "replica-id"}


class _Tables:
    """Files, functions and lines that an HLO has in front."""

    def __init__(self) -> None:
        self.named: dict[str, dict[int, str]] = {"FileNames": {}, "FunctionNames": {}, "FileLocations": {},
                                                 "StackFrames": {}}
        self.into: dict[int, str] | None = None

    def take(self, line: str) -> bool:
        """Whether the line belongs to them."""
        if line in self.named:
            self.into = self.named[line]
            return True
        found = _TABLE.match(line) if self.into is not None else None
        if found is None:
            self.into = None
            return False
        assert self.into is not None
        self.into[int(found[1])] = found[2]
        return True

    def place(self, frame: int) -> str:
        """FILE(LINE): FUNCTION of a stack frame, or nothing."""
        stack = dict(_NUMBER.findall(self.named["StackFrames"].get(frame, "")))
        at = dict(_NUMBER.findall(self.named["FileLocations"].get(int(stack.get("file_location_id", 0)), "")))
        file = self.named["FileNames"].get(int(at.get("file_name_id", 0)), "").strip('"')
        function = self.named["FunctionNames"].get(int(at.get("function_name_id", 0)), "").strip('"')
        return f"{file}({at.get('line', 0)}): {function.rpartition('.')[2] or '<module>'}" if file else ""


def _place(line: str, tables: _Tables) -> str:
    frame = _FRAME.search(line)
    if frame is not None:
        return tables.place(int(frame[1]))
    file = _FILE.search(line)
    return f"{file[1]}({file[2] or 0}): <module>" if file is not None else ""


def _kernel(name: str) -> str:
    """An instruction as XLA names its kernel."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def sources(text: str) -> Iterator[tuple[str, str, str]]:
    """(kernel, operation, FILE(LINE): FUNCTION) of the instructions of an HLO that may be kernels. A
    fusion without a line has that of its result."""
    tables, computation, found = _Tables(), "", []
    inside: dict[str, tuple[str, str]] = {}  # by computation: that of its result, or the last that has one
    fused: set[str] = set()
    for line in text.splitlines():
        if tables.take(line):
            continue
        begins = _COMPUTATION.match(line)
        if begins is not None:
            computation = begins[1]
            continue
        made = _INSTRUCTION.match(line)
        if made is None or made[3] in _NOT_KERNELS:
            continue
        place, op, calls = _place(line, tables), _OP_NAME.search(line), _CALLS.search(line)
        if place:
            inside[computation] = (op[1] if op else "", place)
        if calls is not None:
            fused.add(calls[1])
        found.append((computation, made[2], op[1] if op else "", place, calls[1] if calls else ""))
    for within, name, op_name, place, calls_name in found:
        if not place:
            op_name, place = inside.get(calls_name, ("", ""))
        if place and within not in fused:
            yield _kernel(name), op_name, place


def _tell(executable: Any) -> None:
    global _n_sources
    library = _door()
    if library is None or _n_sources >= MOST_SOURCES:
        return
    for module in executable.hlo_modules():
        text = module.to_string()
        if len(text) > MOST_TEXT:
            continue
        for kernel, op, place in sources(text):
            _n_sources += 1
            if _n_sources >= MOST_SOURCES:
                return
            library.strata_inject_source("\t".join((module.name, kernel, op, place)).encode())


def watch_compiling(module: Any) -> None:
    """Of jax._src.compiler, when it is loaded."""
    name = "compile_or_get_cached" if hasattr(module, "compile_or_get_cached") else "backend_compile"
    inner = getattr(module, name)

    def compiled(*args: Any, **options: Any) -> Any:
        executable = inner(*args, **options)
        try:
            _tell(executable)
        except Exception:
            pass
        return executable

    setattr(module, name, _as_part_of(module, compiled, name))


WATCHED = {"jax._src.array": watch_waits, "jax._src.compiler": watch_compiling}
