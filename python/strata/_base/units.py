"""Numbers and names for people: three significant digits, and text that fits."""
from __future__ import annotations

WIDTH = 100  # columns of what is printed


def duration(ms: float | None) -> str:
    """564 ms, 10.7 ms, 4.13 us, 2.15 s; a dash where there is none."""
    return "-" if ms is None else nanoseconds(round(ms * 1e6))


def nanoseconds(ns: int) -> str:
    """The same of integer nanoseconds."""
    if abs(ns) < 1000:
        return f"{ns} ns" if ns else "0"
    for unit, scale in (("us", 1e3), ("ms", 1e6)):
        if abs(ns) < 999.5 * scale:
            return f"{_digits(ns / scale)} {unit}"
    return f"{_digits(ns / 1e9)} s"


def size(n: float | None) -> str:
    """9.10 GB, in powers of ten, as device memory is sold; a dash where there is none."""
    if n is None:
        return "-"
    if abs(n) < 999.5:
        return f"{n:.0f} B"
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        n /= 1000
        if abs(n) < 999.5:
            return f"{_digits(n)} {unit}"
    return f"{_digits(n / 1000)} EB"


def percent(p: float) -> str:
    """98.4 %, 100 %."""
    if abs(p) < 0.05:
        p = 0.0  # no "-0.0 %"
    return f"{p:.{0 if abs(p) >= 99.95 else 1}f} %"


def count(n: int) -> str:
    """218,570."""
    return f"{n:,}"


def _digits(v: float) -> str:
    return f"{v:.{0 if abs(v) >= 99.95 else 1 if abs(v) >= 9.995 else 2}f}"


def shorten(text: str, width: int) -> str:
    """Cuts in the middle; the end, which is more informative, keeps most."""
    text = "".join(c if c.isprintable() else "?" for c in text)
    if len(text) <= width:
        return text
    front = (width - 3) // 3
    return text[:front] + "..." + text[len(text) - (width - 3 - front):]
