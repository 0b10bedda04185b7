"""Whether a fix changes the time of a unit, from a few processes of each kind.

Units of one process are not independent: memory lands elsewhere in the next one, and clocks drift. So
a process counts once: as the median, over its warm units, of how much longer each took than the same
unit of the program as it is, or, of many units, as their sum. Two kinds of processes are compared by the
means of these values. Their spread is estimated from all kinds together, because it is the machine's.
Few processes say little about it, so it is mixed with a guess that counts as much as GUESSED more of
them: twice what the units of one process differ, and at least LEAST_GUESS. The verdict is one of
strata.bench.stats at 99.9 %; the interval that is shown has 95 %."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strata.bench import stats

WARM = 1.15  # of the usual time: units before the first such one are warm-up
LEAST_GUESS = 0.02  # of the time
MANY = 40  # units of a process
GUESSED = 3  # degrees of freedom that the guess is worth
CONFIDENCE_PCT = 95.0
MATTERS_PCT = 5.0  # a gain of less than this is not worth another look
# Student's t by degrees of freedom: (two-sided 5 %, two-sided 0.1 %).
_T = {1: (12.71, 636.6), 2: (4.303, 31.60), 3: (3.182, 12.92), 4: (2.776, 8.610), 5: (2.571, 6.869),
      6: (2.447, 5.959), 7: (2.365, 5.408), 8: (2.306, 5.041), 9: (2.262, 4.781), 10: (2.228, 4.587),
      12: (2.179, 4.318), 14: (2.145, 4.140), 16: (2.120, 4.015), 20: (2.086, 3.850),
      30: (2.042, 3.646), 60: (2.000, 3.460)}


def student(freedom: int) -> tuple[float, float]:
    """The entry for at most that many degrees of freedom: on the safe side."""
    return _T[max(n for n in _T if n <= freedom)]


def warm_up(times: Sequence[float]) -> int:
    """How many units at the beginning are not like the later ones; at least one of three."""
    n = len(times)
    if n < 3:
        return n - 1
    usual = stats.median(times[n // 2:])
    first = next((i for i, t in enumerate(times) if t <= WARM * usual), 0)
    return min(max(first, 1), n - 1)


def set_up_s(times: Sequence[float]) -> float:
    """What the units of the warm-up took longer than the later ones: compiling, above all."""
    n = warm_up(times)
    usual = stats.median(times[n:]) if times[n:] else 0.0
    return sum(max(t - usual, 0.0) for t in times[:n]) / 1e3


Processes = Sequence[Sequence[float]]


def _window(every: Processes) -> tuple[int, int]:
    """The units that are warm in all processes: [begin, end)."""
    end = min(len(t) for t in every)
    return min(max(warm_up(t) for t in every), end - 1), end


def _relative(before: Processes, after: Processes) -> tuple[list[list[float]], list[list[float]]]:
    """The warm units of each process: logs of how much longer each took than the same unit of the
    program as it is."""
    begin, end = _window([*before, *after])
    usual = [stats.median([t[k] for t in before]) for k in range(begin, end)]

    def logs(times: Sequence[float]) -> list[float]:
        return [math.log(max(t, 1e-9) / max(u, 1e-9)) for t, u in zip(times[begin:end], usual)]

    return [logs(t) for t in before], [logs(t) for t in after]


def scores(before: Processes, after: Processes) -> tuple[list[float], list[float]]:
    """One value per process: log of its time relative to the program as it is. Of many units it is
    that of their sum, because a pause that comes now and then is part of the time."""
    begin, end = _window([*before, *after])
    if end - begin >= MANY:
        a, b = ([math.log(max(sum(t[begin:end]), 1e-9)) for t in side] for side in (before, after))
        return a, b
    c, d = _relative(before, after)
    return [stats.median(logs) for logs in c], [stats.median(logs) for logs in d]


def unit_spread(before: Processes, after: Processes) -> float | None:
    """How much units differ within a process; None where there are too few of them."""
    found = [1.4826 * stats.deviation(logs) for logs in _relative(before, after)[1] if len(logs) >= 3]
    return stats.median(found) if found else None


@dataclass
class Spread:
    """How much processes of the same kind differ on this machine."""

    squares: float = 0.0
    freedom: int = 0

    def add(self, group: Sequence[float]) -> None:
        if len(group) > 1:
            mean = sum(group) / len(group)
            self.squares += sum((v - mean) ** 2 for v in group)
            self.freedom += len(group) - 1

    def guess(self, units: float | None) -> None:
        """What is likely, from the spread of units."""
        if units is not None:
            self.squares += GUESSED * max(2 * units, LEAST_GUESS) ** 2
            self.freedom += GUESSED

    @property
    def value(self) -> float:
        return math.sqrt(self.squares / self.freedom) if self.freedom else math.inf


@dataclass
class Measured:
    """A kind of process against the program as it is."""

    change_pct: float
    low_pct: float  # of the interval that is shown
    high_pct: float
    verdict: stats.Verdict

    def as_dict(self) -> dict[str, Any]:
        return {"change_pct": self.change_pct, "low_pct": _finite(self.low_pct),
                "high_pct": _finite(self.high_pct), "confidence_pct": CONFIDENCE_PCT,
                "verdict": self.verdict.word, "processes": self.verdict.estimate.pairs,
                "threshold_pct": self.verdict.threshold_pct}


def is_open(verdict: str, low_pct: float | None, high_pct: float | None) -> bool:
    """Whether it may be a gain, or a loss, that matters: more time would show it."""
    if verdict in ("faster", "slower"):
        return False
    if low_pct is None or high_pct is None or verdict == "unknown" or not low_pct <= 0 <= high_pct:
        return True
    return low_pct < -MATTERS_PCT


def _finite(v: float) -> float | None:
    return v if math.isfinite(v) else None


def measure(before: Processes, after: Processes, threshold_pct: float,
            others: Processes = ()) -> Measured | None:
    """The change, from the times of units by process; `others` are scores of other kinds, which show
    the spread too. None when one side has no times."""
    before, after = [t for t in before if t], [t for t in after if t]
    if not before or not after:
        return None
    a, b = scores(before, after)
    spread = Spread()
    for group in (a, b, *others):
        spread.add(group)
    spread.guess(unit_spread(before, after))
    difference = sum(b) / len(b) - sum(a) / len(a)
    return _interval(difference, spread, (len(a), len(b)), threshold_pct)


def _interval(difference: float, spread: Spread, n: tuple[int, int],
              threshold_pct: float) -> Measured:
    def pct(v: float) -> float:
        return 100 * math.expm1(min(v, 50.0)) if v > -math.inf else -math.inf

    shown = sure = math.inf
    if spread.freedom:
        error = spread.value * math.sqrt(1 / n[0] + 1 / n[1])
        shown, sure = (t * error for t in student(spread.freedom))
    known = math.isfinite(sure)
    found = stats.Estimate(n[1], pct(difference), pct(difference - sure) if known else -math.inf,
                           pct(difference + sure) if known else math.inf)
    return Measured(pct(difference), pct(difference - shown) if known else -math.inf,
                    pct(difference + shown) if known else math.inf,
                    stats.Verdict(found, threshold_pct))
