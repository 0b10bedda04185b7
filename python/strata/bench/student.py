"""Student's t: how many standard errors a difference must have, where the error itself is estimated."""
from __future__ import annotations

import functools
import math

MOST = 1e9  # for one degree of freedom and the smallest errors


@functools.lru_cache(maxsize=4096)
def limit(freedom: int, error: float) -> float:
    """What |t| exceeds with a chance of `error`."""
    low, high = 0.0, 1.0
    while chance(high, freedom) > error and high < MOST:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle, freedom) > error else (low, middle)
    return high


def chance(t: float, freedom: int) -> float:
    """Of |t| being at least that large: the incomplete beta function."""
    x = freedom / (freedom + t * t)
    return _beta(x, freedom / 2, 0.5)


def _beta(x: float, a: float, b: float) -> float:
    """Regularized; its continued fraction converges fast on one side of the mean only."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
                     + a * math.log(x) + b * math.log1p(-x)) / a
    return front * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's method, two steps at a time."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    out = d
    for m in range(1, 200):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + step * d)
            c = 1 + step / c
            out *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    return out
