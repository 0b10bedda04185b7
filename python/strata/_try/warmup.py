"""What is different at the beginning: units that are left out, and what a fix takes to set up.

A pause during the warm-up is not yet a set-up: a collection of garbage, or the first use of something
by the program, comes with every fix and without any. So a set-up is one only if it is clearly more
than what the program's own units take longer occasionally."""
from __future__ import annotations

from collections.abc import Sequence

from strata.bench import stats

WARM = 1.15  # of the usual time: units before the first such one are warm-up
CLEARLY = 2.0  # times the longest pause of the program itself


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
    return longer_s(times[:n], usual)


def longer_s(times: Sequence[float], usual_ms: float) -> float:
    """What units take beyond the usual, together."""
    return sum(max(t - usual_ms, 0.0) for t in times) / 1e3


def longest_pause_s(times: Sequence[float], units: int = 1) -> float:
    """The most that so many units in a row take beyond the usual."""
    if not times:
        return 0.0
    usual = stats.median(times)
    return max(longer_s(times[k:k + units], usual) for k in range(len(times)))


def beyond(seconds: float, own: Sequence[float]) -> float:
    """A set-up, or 0 where it may be a pause like the program's own."""
    return seconds if seconds > CLEARLY * max(own, default=0.0) else 0.0


def of_process(mine: Sequence[float], theirs: Sequence[Sequence[float]]) -> float:
    """What the first units of a process took beyond those of the unchanged program."""
    own = [set_up_s(times) for times in theirs]
    usual = stats.median(own)
    varies = [abs(s - usual) for s in own] + [longest_pause_s(t[warm_up(t):]) for t in theirs]
    return beyond(max(set_up_s(mine) - usual, 0.0), varies)
