"""How the time is spent on fixes that are not settled: who gets another look, and how long it takes.

Looking again and again until something seems real finds gains where nothing was gained. So the
chance of being wrong is shared out before the first look: half of it belongs to that one, the rest in
equal parts to those that may follow. Each look has more measurements than all before it, and can afford
to be stricter."""
from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

ERROR = 0.001  # the chance that a fix that does nothing is called faster or slower, over all looks
MOST_LOOKS = 5
GROWTH = 3  # a turn is that much longer than the one before
SINGLES = 0.65  # of the time that fixes alone may take, whatever combinations need
MATTERS_PCT = 5.0  # a gain of less than this is not worth another look
_USUAL = 1.96  # standard errors from the middle to the end of the interval that is shown


def level(look: int, most: int = MOST_LOOKS) -> float:
    """The chance of being wrong that the look has, of at most so many."""
    if most <= 1:
        return ERROR
    return ERROR / 2 if look <= 1 else ERROR / 2 / (most - 1)


def stretch(look: int) -> int:
    """How many times as long as the first turn that of a look is."""
    return int(GROWTH ** max(look - 1, 0))


def rounds(look: int) -> int:
    """Rounds of processes for a look: as many as there were before, because starting one costs most."""
    return int(2 ** max(look - 2, 0))


def alone_s(seconds: float, together_s: float) -> float:
    """How long fixes may be tried alone: twice what combinations are likely to take is left for them."""
    return max(SINGLES * seconds, seconds - 2 * together_s)


@dataclass(frozen=True)
class Standing:
    """What is known of a fix that is not settled. Changes are logs of the time with it by the time
    without."""

    change: float
    error: float  # standard error of it; infinite where nothing is known
    n: int  # pairs or processes so far
    each_s: float  # what one more of them takes
    least_s: float  # what the shortest next look takes
    look: int  # the next one
    most: int = MOST_LOOKS

    @property
    def missing(self) -> float:
        """How many more pairs or processes can show that it is real, or that it gains nothing that matters,
        whichever comes first. Errors shrink with the root of their number. The change itself may be off
        by its error, so that is granted: what is given up here stays open."""
        if not math.isfinite(self.error):
            return float(self.n)
        sure = -statistics.NormalDist().inv_cdf(level(self.look, self.most) / 2)
        real = _times(sure * self.error, abs(self.change) + self.error)
        none = _times(_USUAL * self.error, self.change + self.error - math.log1p(-MATTERS_PCT / 100))
        return max(self.n * (min(real, none) - 1), 1.0)

    @property
    def seconds(self) -> float:
        return max(self.missing * self.each_s, self.least_s)

    @property
    def worth(self) -> float:
        """Gain per second that it takes to settle it."""
        return max(-self.change, 1e-3) / max(self.seconds, 1e-9)


def _times(error: float, distance: float) -> float:
    """How many times as many measurements make an error as small as a distance."""
    return (error / distance) ** 2 if distance > 0 else math.inf


def standing(pct: tuple[float, float, float], n: int, seconds: tuple[float, float],
             looks: tuple[int, int]) -> Standing:
    """From the change and its interval of 95 % in percent, (each_s, least_s) and (look, most)."""
    change, low, high = (math.log1p(max(v, -99.99) / 100) for v in pct)
    error = (high - low) / 2 / _USUAL if math.isfinite(pct[1]) else math.inf
    return Standing(change, error, n, *seconds, *looks)


def chosen(found: Sequence[Standing], left_s: float) -> list[int]:
    """Whose turn it is, by their places: what the time that is left can settle, and has room for; the
    most gain per second first."""
    can = [i for i, s in enumerate(found) if s.look <= s.most and s.seconds <= left_s]
    out: list[int] = []
    for i in sorted(can, key=lambda i: -found[i].worth):
        left_s -= found[i].least_s
        if left_s < 0:
            break
        out.append(i)
    return out
