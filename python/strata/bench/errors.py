"""Errors for the user of the command: what happened, and what to do next."""
from __future__ import annotations

import difflib
import os
import sys
import traceback
from collections.abc import Iterable

USAGE, BAD_INPUT = 2, 3


class BenchError(Exception):
    """Ends the command with a message and an exit status."""

    def __init__(self, message: str, status: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


def nearest(word: str, known: Iterable[str]) -> str:
    """"Did you mean ...?", or what there is."""
    names = sorted(set(known))
    close = difflib.get_close_matches(word, names, 1, 0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Available: {', '.join(names[:12])}." if names else "There are none."


def out_of_memory(why: BaseException) -> bool:
    """Whether the device or the host has no room left."""
    return isinstance(why, MemoryError) or type(why).__name__ == "OutOfMemoryError" or (
        isinstance(why, RuntimeError) and ("out of memory" in str(why)
                                           or "can't allocate memory" in str(why)))


def from_program(doing: str, why: BaseException) -> BenchError:
    """An exception of the program's own code: its message, and where it was raised."""
    if out_of_memory(why):
        return BenchError(f"out of memory {doing}: {first_line(why)}\n"
                          "  free the device, use a smaller signature (--signature N), or run it "
                          "on the CPU with --device cpu")
    where = ""
    frames = traceback.extract_tb(why.__traceback__)
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for frame in reversed(frames):
        if not os.path.abspath(frame.filename).startswith(ours):
            where = f"\n  raised at {frame.filename}:{frame.lineno}, in {frame.name}"
            break
    return BenchError(f"{type(why).__name__} {doing}: {first_line(why)}{where}")


def first_line(why: BaseException) -> str:
    """The beginning of its message, on one line."""
    text = " ".join(str(why).split())
    return text[:300] + ("..." if len(text) > 300 else "") if text else "no message"


def printable(text: str) -> str:
    """Names from files for a terminal, which control characters would command."""
    return "\n".join(map(one_line, text.split("\n")))


def one_line(text: str) -> str:
    """The same, line breaks included."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Talk goes to standard error."""
    print(f"strata bench: {printable(text)}", file=sys.stderr, flush=True)
