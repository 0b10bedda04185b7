"""Pauses that come occasionally, as those of a garbage collector: how many units lie between
two."""
from __future__ import annotations

from collections.abc import Sequence

from strata._try.warmup import warm_up
from strata.bench import stats

SHARE = 0.02  # of the time that pauses must take to be of interest
MOST = 128  # units between two that are reckoned with


def period(times: Sequence[float]) -> int:
    """Units from one pause to the next, on average; 0 where there are none to speak of. Among short ones
    and long ones those count that take most of the time."""
    warm = list(times[warm_up(times):]) if len(times) > 2 else []
    if not warm:
        return 0
    usual = stats.median(warm)
    limit = usual + max(usual / 2, stats.OUTLIER * 1.4826 * stats.deviation(warm))
    found = sorted((k for k, t in enumerate(warm) if t > limit), key=lambda k: -warm[k])
    lost = sum(warm[k] - usual for k in found)
    if lost < SHARE * sum(warm):
        return 0
    at = sorted(_most_of(found, [warm[k] - usual for k in found], lost / 2))
    between = (at[-1] - at[0]) / (len(at) - 1) if len(at) > 1 else len(warm)
    return min(max(round(between), 1), MOST)


def _most_of(places: Sequence[int], sizes: Sequence[float], enough: float) -> list[int]:
    """The largest, until they are enough, and those that are about as large as the last of these."""
    total, smallest = 0.0, 0.0
    for size in sizes:
        total, smallest = total + size, size
        if total >= enough:
            break
    return [k for k, size in zip(places, sizes) if size >= smallest / 2]


def block(between: int, least: int, most: int) -> int:
    """Units of a block, with its first one that does not count, so that the others have a whole number
    of pauses. Some more of them, because a collector that begins again with the block has its last pause
    at the end."""
    if not between:
        return least
    spare = between // 8
    n = max((min(most, MOST + 1 + spare) - 1 - spare) // between, 1)
    return max(min(1 + n * between + spare, most), least)
