"""What a fix gains that was turned on and off while the program ran: inside/schedule.py says when."""
from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strata._try import budget, judge, warmup
from strata._try.inside.schedule import FIRST, FIRST_LONG, LEAST_LONG_PAIRS, LEAST_PAIRS, Turn
from strata.bench import stats, student

__all__ = ["FIRST", "FIRST_LONG", "LEAST_LONG_PAIRS", "LEAST_PAIRS", "Taken", "Turn", "described",
           "is_long", "measure", "planned", "usual_ms"]

MOST_PAIRS = 30  # of the first turn
MOST_IN_A_TURN = 270
TURN_S = 4.0  # that the first turn should take, if that is enough for LEAST_PAIRS
STEPS = (4, 4)  # of a loop: units to warm up with, units of a block
FEW = (2, 2)  # of calls, which the device has finished at both ends, and of long steps
LONG_MS = 250.0  # what the unit before leaves behind is small beside it


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
        found = [self.times.get(k) for k in range(begin + self.turn.left_out, begin + self.turn.block)]
        return None if None in found else statistics.fmean(t for t in found if t is not None)

    def usual_ms(self, on: bool) -> float | None:
        found = self.pairs()[on]
        return stats.median(found) if found else None

    def set_up_s(self, first: Sequence[float] = ()) -> float:
        """What its warm-up took longer; the last unit of it is that of the comparison. `first` are units
        of the unchanged program, which has pauses of its own."""
        usual = self.usual_ms(True)
        if usual is None:
            return 0.0
        n = self.turn.warm - 1
        found = warmup.longer_s([self.times.get(k, 0.0) for k in range(n)], usual)
        own = [t for k, t in sorted(self.times.items()) if not self.turn.is_on(k)]
        return warmup.beyond(found, [warmup.longest_pause_s(t, n) for t in (own, first[FIRST:])])


def is_long(unit: str, unit_ms: float) -> bool:
    return unit.startswith("call:") and unit_ms >= LONG_MS


def planned(fixes: tuple[str, ...], unit: str, unit_ms: float, longest_block: int, look: int = 1,
            settles: int = 0, more_s: float = 0.0) -> Turn:
    """A turn for units of that length, which may take `more_s` than usual: each look has a longer one.
    What was on before reaches into `settles` units of a block; as many count."""
    is_call = unit.startswith("call:")
    warm, block = FEW if is_call or unit_ms >= LONG_MS else STEPS
    block = 1 if is_long(unit, unit_ms) and not settles else block
    block = max(block, 2 * settles, 0 if is_call else longest_block)
    stretch = budget.stretch(look)
    pairs = int((TURN_S * stretch + more_s) * 1e3 / (2 * block * max(unit_ms, 1e-3)))
    most = min(MOST_PAIRS * stretch, MOST_IN_A_TURN)
    turn = Turn(fixes, max(warm, settles), block, most, look, max(settles, 1))
    return replace(turn, pairs=min(max(pairs, turn.least), most))


def every_pair(turns: Sequence[Taken]) -> tuple[list[float], list[float]]:
    """(without, with) of all turns of a fix."""
    off: list[float] = []
    on: list[float] = []
    for taken in turns:
        a, b = taken.pairs()
        off, on = off + a, on + b
    return off, on


def measure(turns: Sequence[Taken], threshold_pct: float, error: float = budget.ERROR,
            has_pauses: bool = False) -> judge.Measured | None:
    """From all turns of a fix, wrong with a chance of `error`; None with too few pairs. If what it gains
    is pauses, their sums are compared: a median would not see pauses that most blocks do not have."""
    pairs = [(a, b) for a, b in zip(*every_pair(turns)) if a > 0 and b > 0]
    if len(pairs) < min((t.turn.least for t in turns), default=LEAST_PAIRS):
        return None
    middle, shown, sure = (_of_sums if has_pauses else _of_ranks)(pairs, error)
    return judge.measured(middle, shown, sure, len(pairs), threshold_pct)


Interval = tuple[float, float]


def _of_ranks(pairs: Sequence[tuple[float, float]], error: float) -> tuple[float, Interval, Interval]:
    """The middle of all ratios and what the signed-rank test says of it; of few pairs Student's."""
    ratios = [math.log(b / a) for a, b in pairs]
    n = len(ratios)
    if n < stats.FIRST_LOOK:
        return _student(statistics.fmean(ratios), statistics.stdev(ratios) / math.sqrt(n), n, error)
    means = stats.walsh(ratios)
    shown, sure = (stats.rank_sum_limit(n, e) for e in (judge.SHOWN, error))
    ends = (means[sure], means[-1 - sure]) if sure >= 0 else (-math.inf, math.inf)
    return stats.median(means), (means[shown], means[-1 - shown]), ends


def _of_sums(pairs: Sequence[tuple[float, float]], error: float) -> tuple[float, Interval, Interval]:
    """The ratio of the sums; what single pairs are off it says how sure that is."""
    n = len(pairs)
    ratio = sum(b for _, b in pairs) / sum(a for a, _ in pairs)
    off = sum((b - ratio * a) ** 2 for a, b in pairs)
    usual = statistics.fmean(b for _, b in pairs)
    return _student(math.log(ratio), math.sqrt(off / (n * (n - 1))) / usual, n, error)


def _student(middle: float, unsure: float, n: int, error: float) -> tuple[float, Interval, Interval]:
    shown, sure = (judge.around(middle, student.limit(n - 1, e) * unsure) for e in (judge.SHOWN, error))
    return middle, shown, sure


def usual_ms(turns: Sequence[Taken], has_pauses: bool) -> tuple[float, float] | None:
    """What a unit takes without and with the fix, in all its turns."""
    off, on = every_pair(turns)
    if not off:
        return None
    usual = statistics.fmean if has_pauses else stats.median
    return usual(off), usual(on)


def described(found: judge.Measured) -> dict[str, Any]:
    """As judge's, with pairs in the place of processes."""
    out = found.as_dict()
    out["pairs"] = out.pop("processes")
    return out
