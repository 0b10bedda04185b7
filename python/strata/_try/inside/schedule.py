"""When a fix is on that is turned on and off while the program runs: in blocks of units, in pairs of
blocks with and without it, in an order that is random for every pair."""
from __future__ import annotations

import random

FIRST = 4  # units that are left out: the warm-up
BLOCK = 4  # units, the first of which is left out: what was on before it may reach into it
LEAST_PAIRS = 8
LEAST_UNITS = FIRST + 2 * BLOCK * LEAST_PAIRS


def is_on(seed: int, k: int) -> bool:
    """Whether the fix is on during the k-th unit."""
    if k < FIRST:
        return False
    block = (k - FIRST) // BLOCK
    first = random.Random(seed * 1_000_003 + block // 2).random() < 0.5
    return first == (block % 2 == 0)
