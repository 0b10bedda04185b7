"""What a fix gains that was turned on and off while the program ran: inside/schedule.py says when."""
from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from strata._try import judge
from strata._try.inside.schedule import BLOCK, FIRST, LEAST_PAIRS, LEAST_UNITS, is_on
from strata.bench import stats

__all__ = ["FIRST", "LEAST_UNITS", "described", "is_on", "measure", "pairs"]


def pairs(times: Sequence[float], seed: int) -> tuple[list[float], list[float]]:
    """(without, with), one value per pair of blocks."""
    off: list[float] = []
    on: list[float] = []
    for begin in range(FIRST, len(times) - 2 * BLOCK + 1, 2 * BLOCK):
        for at in (begin, begin + BLOCK):
            value = statistics.fmean(times[at + 1:at + BLOCK])
            (on if is_on(seed, at) else off).append(value)
    return off, on


def measure(processes: Sequence[tuple[int, Sequence[float]]],
            threshold_pct: float) -> judge.Measured | None:
    """From (seed, times of units) of each process; None with too few pairs."""
    off: list[float] = []
    on: list[float] = []
    for seed, times in processes:
        a, b = pairs(times, seed)
        off, on = off + a, on + b
    if len(off) < LEAST_PAIRS:
        return None
    found = stats.Verdict(stats.estimate(off, on), threshold_pct)
    ratios = [math.log(b / a) for a, b in zip(off, on) if a > 0 and b > 0]
    half = judge.student(len(ratios) - 1)[0] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    middle = math.log1p(found.estimate.change_pct / 100)
    return judge.Measured(found.estimate.change_pct, 100 * math.expm1(middle - half),
                          100 * math.expm1(middle + half), found)


def described(found: judge.Measured) -> dict[str, Any]:
    """As judge's, with pairs in the place of processes."""
    out = found.as_dict()
    out["pairs"] = out.pop("processes")
    return out
