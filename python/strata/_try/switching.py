"""What a fix gains that was turned on and off while the program ran: inside/schedule.py says when."""
from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strata._try import judge
from strata._try.inside.schedule import FIRST, LEAST_PAIRS, Turn
from strata.bench import stats

__all__ = ["FIRST", "LEAST_PAIRS", "Taken", "Turn", "described", "measure", "planned"]

MOST_PAIRS = 30
TURN_S = 4.0  # that a turn should take, if that is enough for LEAST_PAIRS
STEPS = (4, 4)  # of a loop: units to warm up with, units of a block
CALLS = (2, 2)  # of what is waited for at both ends


@dataclass
class Taken:
    """A turn that was taken, with the times of its units in ms by their place in it."""

    turn: Turn
    times: dict[int, float] = field(default_factory=dict)

    def pairs(self) -> tuple[list[float], list[float]]:
        """(without, with), one value per pair of blocks that is complete."""
        off: list[float] = []
        on: list[float] = []
        for n in range(self.turn.pairs):
            begin = self.turn.warm + 2 * n * self.turn.block
            blocks = [self._block(begin), self._block(begin + self.turn.block)]
            if None in blocks:
                break
            first_is_on = self.turn.is_on(begin)
            on.append(blocks[not first_is_on] or 0.0)
            off.append(blocks[first_is_on] or 0.0)
        return off, on

    def _block(self, begin: int) -> float | None:
        found = [self.times.get(k) for k in range(begin + 1, begin + self.turn.block)]
        return None if None in found else statistics.fmean(t for t in found if t is not None)

    def median_ms(self, on: bool) -> float | None:
        found = self.pairs()[on]
        return stats.median(found) if found else None

    def set_up_s(self) -> float:
        """What its warm-up took longer; the last unit of it is that of the comparison."""
        usual = self.median_ms(True)
        if usual is None:
            return 0.0
        return sum(max(self.times.get(k, 0.0) - usual, 0.0) for k in range(self.turn.warm - 1)) / 1e3


def planned(fixes: tuple[str, ...], unit: str, unit_ms: float, longest_block: int,
            seed: int = 1) -> Turn:
    """A turn for units of that length."""
    warm, block = CALLS if unit.startswith("call:") else STEPS
    block = max(block, longest_block) if block == STEPS[1] else block
    pairs = int(TURN_S * 1e3 / (2 * block * max(unit_ms, 1e-3)))
    return Turn(fixes, warm, block, min(max(pairs, LEAST_PAIRS), MOST_PAIRS), seed)


def measure(turns: Sequence[Taken], threshold_pct: float) -> judge.Measured | None:
    """From all turns of a fix; None with too few pairs."""
    off: list[float] = []
    on: list[float] = []
    for taken in turns:
        a, b = taken.pairs()
        off, on = off + a, on + b
    if len(off) < LEAST_PAIRS:
        return None
    found = stats.Verdict(stats.estimate(off, on), threshold_pct)
    ratios = [math.log(b / a) for a, b in zip(off, on) if a > 0 and b > 0]
    if len(ratios) < 2:
        return None
    half = judge.student(len(ratios) - 1)[0] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    middle = math.log1p(found.estimate.change_pct / 100)
    return judge.Measured(found.estimate.change_pct, 100 * math.expm1(middle - half),
                          100 * math.expm1(middle + half), found)


def described(found: judge.Measured) -> dict[str, Any]:
    """As judge's, with pairs in the place of processes."""
    out = found.as_dict()
    out["pairs"] = out.pop("processes")
    return out
