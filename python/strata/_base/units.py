"""Numbers and names for people: three digits that matter, and text that fits."""
from __future__ import annotations

WIDTH = 100  # columns of what is printed


def duration(ms: float | None) -> str:
    """564 ms, 10.7 ms, 4.1 us, 2.15 s."""
    if not ms:
        return "-"
    for unit, size in (("s", 1e3), ("ms", 1.0), ("us", 1e-3)):
        if ms >= size * 0.9995 or unit == "us":
            return f"{_digits(ms / size)} {unit}"
    return "-"


def size(n: float | None) -> str:
    """9.1 GB, in powers of ten, as device memory is sold."""
    if not n:
        return "-"
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= scale * 0.9995:
            return f"{_digits(n / scale)} {unit}"
    return f"{n:.0f} B"


def _digits(v: float) -> str:
    if v >= 99.95:
        return f"{v:.0f}"
    if v >= 9.995:
        return f"{v:.1f}"
    return f"{v:.2f}"


def shorten(text: str, width: int) -> str:
    """Cut in the middle; the end, which tells more, keeps most."""
    text = "".join(c if c.isprintable() else "?" for c in text)
    if len(text) <= width:
        return text
    front = (width - 3) // 3
    return text[:front] + "..." + text[len(text) - (width - 3 - front):]
