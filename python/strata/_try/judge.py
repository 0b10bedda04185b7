"""Whether a fix changes the time of a unit, from a few processes of each kind.

Units of one process are not independent: memory lands elsewhere in the next one, and clocks drift.
So a process counts once: as the median, over its warm units, of how much longer each took than the
same unit of the unchanged program, or, of many units, as their sum. A process with a fix is
compared with those of the unchanged program before and after it, weighted by distance, because machines
drift. The spread of processes is estimated from those of a kind that follow each other,
and from all kinds together, because it is the machine's. Few processes say little about it, so it
is mixed with a guess that counts as much as GUESSED more of them, and less the more there are:
twice what the units of one process differ, and at least LEAST_GUESS. The verdict is one of
strata.bench.stats, as sure as the caller asks for; the interval that is shown has 95 %."""
from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strata._try.budget import ERROR, MATTERS_PCT
from strata._try.warmup import warm_up
from strata.bench import stats, student

NOT_SETTLED = "not_settled"  # the verdict of what may still turn out either way
LEAST_GUESS = 0.02  # of the time
MANY = 40  # units of a process
GUESSED = 3  # degrees of freedom that the guess is worth
CONFIDENCE_PCT = 95.0
SHOWN = 1 - CONFIDENCE_PCT / 100  # the chance that the interval that is shown is wrong


Processes = Sequence[Sequence[float]]
Order = tuple[Sequence[int], Sequence[int]]  # places of processes in the sequence of all


def _window(every: Processes) -> tuple[int, int]:
    """The units that are warm in all processes: [begin, end)."""
    end = min(len(t) for t in every)
    return min(max(warm_up(t) for t in every), end - 1), end


def _relative(before: Processes, after: Processes) -> tuple[list[list[float]], list[list[float]]]:
    """The warm units of each process: logs of how much longer each took than the same unit of the
    unchanged program."""
    begin, end = _window([*before, *after])
    usual = [stats.median([t[k] for t in before]) for k in range(begin, end)]

    def logs(times: Sequence[float]) -> list[float]:
        return [math.log(max(t, 1e-9) / max(u, 1e-9)) for t, u in zip(times[begin:end], usual)]

    return [logs(t) for t in before], [logs(t) for t in after]


def scores(before: Processes, after: Processes) -> tuple[list[float], list[float]]:
    """One value per process: log of its time relative to the unchanged program. For many units it is
    that of their sum, because a pause that comes occasionally is part of the time."""
    begin, end = _window([*before, *after])
    if end - begin >= MANY:
        a, b = ([math.log(max(sum(t[begin:end]), 1e-9)) for t in side] for side in (before, after))
        return a, b
    c, d = _relative(before, after)
    return [stats.median(logs) for logs in c], [stats.median(logs) for logs in d]


def usual_ms(before: Processes, after: Processes) -> tuple[float, float] | None:
    """What a unit takes on both sides: as scores() counts it."""
    if not before or not after:
        return None
    begin, end = _window([*before, *after])
    usual = statistics.fmean if end - begin >= MANY else stats.median
    a, b = (usual([t for times in side for t in times[begin:end]]) for side in (before, after))
    return a, b


def unit_spread(before: Processes, after: Processes) -> float | None:
    """How much units differ within a process; None where there are too few of them."""
    found = [1.4826 * stats.deviation(logs) for logs in _relative(before, after)[1] if len(logs) >= 3]
    return stats.median(found) if found else None


@dataclass
class Spread:
    """How much processes of the same kind differ on this machine."""

    squares: float = 0.0
    freedom: float = 0.0

    def add(self, group: Sequence[float]) -> None:
        """Processes of a kind, in their order. A drift is in all of them, but hardly in the difference
        of two that follow each other; such differences overlap, and count for a little less."""
        n = len(group)
        if n > 1:
            square = sum((b - a) ** 2 for a, b in zip(group, group[1:])) / 2 / (n - 1)
            freedom = 2 * (n - 1) ** 2 / (3 * n - 4)
            self.squares += freedom * square
            self.freedom += freedom

    def guess(self, units: float | None) -> None:
        """What is likely, from the spread of units: as long as processes do not say themselves."""
        counts = GUESSED - self.freedom / 2
        if units is not None and counts > 0:
            self.squares += counts * max(2 * units, LEAST_GUESS) ** 2
            self.freedom += counts

    @property
    def value(self) -> float:
        return math.sqrt(self.squares / self.freedom) if self.freedom else math.inf


def weights(before: Sequence[int], after: Sequence[int]) -> list[float]:
    """How much each process of the unchanged program counts, from its place and those of the
    processes with the fix: each is compared with its two neighbours, as if the machine drifted
    evenly between."""
    out = [0.0] * len(before)
    for place in after:
        k = bisect.bisect(before, place)
        if 0 < k < len(before):
            share = (place - before[k - 1]) / (before[k] - before[k - 1])
            out[k - 1] += (1 - share) / len(after)
            out[k] += share / len(after)
        else:
            out[min(k, len(before) - 1)] += 1 / len(after)
    return out


@dataclass
class Measured:
    """A kind of process against the unchanged program."""

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
    if low_pct is None or high_pct is None or verdict in ("unknown", NOT_SETTLED):
        return True
    if not low_pct <= 0 <= high_pct:
        return True
    return low_pct < -MATTERS_PCT


def _finite(v: float) -> float | None:
    return v if math.isfinite(v) else None


def measure(before: Processes, after: Processes, threshold_pct: float, others: Processes = (),
            order: Order | None = None, error: float = ERROR) -> Measured | None:
    """The change, from the times of units by process, in their order; `others` are scores of other kinds,
    which show the spread too. Without `order` all processes of a kind count the same. None when one
    side has no times."""
    if not before or not after or not all((*before, *after)):
        return None
    a, b = scores(before, after)
    spread = Spread()
    for group in (a, b, *others):
        spread.add(group)
    spread.guess(unit_spread(before, after))
    parts = weights(*order) if order else [1 / len(a)] * len(a)
    difference = sum(b) / len(b) - sum(w * v for w, v in zip(parts, a))
    shown = sure = math.inf
    if spread.freedom >= 1:
        unsure = spread.value * math.sqrt(1 / len(b) + sum(w * w for w in parts))
        shown, sure = (student.limit(int(spread.freedom), e) * unsure for e in (SHOWN, error))
    return measured(difference, around(difference, shown), around(difference, sure), len(b),
                    threshold_pct)


def pct(v: float) -> float:
    """A log of a ratio in percent."""
    return v if math.isinf(v) else 100 * math.expm1(min(v, 50.0))


def measured(middle: float, shown: tuple[float, float], sure: tuple[float, float], n: int,
             threshold_pct: float) -> Measured:
    """From logs of ratios: the change, the interval that is shown, and the one that decides."""
    found = stats.Estimate(n, pct(middle), pct(sure[0]), pct(sure[1]))
    return Measured(pct(middle), pct(shown[0]), pct(shown[1]), stats.Verdict(found, threshold_pct))


def around(middle: float, half: float) -> tuple[float, float]:
    return middle - half, middle + half


def agreeing(before_ms: float, after_ms: float, change_pct: float) -> tuple[float, float]:
    """Times without and with a fix that differ by what was measured, unit by unit: neither of the two
    is favoured."""
    if min(before_ms, after_ms) <= 0 or change_pct <= -100:
        return before_ms, after_ms
    middle, ratio = math.sqrt(before_ms * after_ms), math.sqrt(1 + change_pct / 100)
    return middle / ratio, middle * ratio
