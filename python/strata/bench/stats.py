"""What measurements say: the middle and spread of one variant, and whether two variants differ.

Two variants are measured in pairs, one right after the other, in an order that is random for every
pair. If they are the same program, each pair could as well have come out the other way round: the
sign of its difference is a coin toss, whatever the machine did meanwhile (drift, bursts, periodic
noise). So the signed-rank test is exact without any assumption about the noise, and its interval is
that of the median ratio. The result is checked a few times while pairs come in; every check is wrong
with a probability of LOOK_ERROR. A difference is real if the interval excludes zero and it is at
least the threshold; before the time is over this must hold in two checks in a row."""
from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from strata.bench import student

LOOK_ERROR = 0.0001  # two-sided, of one look
FIRST_LOOK = 15  # pairs: fewer cannot be that sure by their ranks
LEAST_PAIRS = 3  # for any interval
LOOK_GROWTH = 1.6
MOST_PAIRS = 1200
NOISY_PCT = 5.0  # that calls take longer than the best of them: a round takes the best of several
BEST_OF = 7
LEAST_ROUNDS = 40  # that must fit into the time
MANY = 200  # values from which their number is as good as normally distributed
EXACT = 24  # pairs up to which the distribution is counted out
OUTLIER = 5.0  # times the usual spread


def median(values: Sequence[float]) -> float:
    """The middle one, or the mean of the two in the middle."""
    return statistics.median(values)


def deviation(values: Sequence[float]) -> float:
    """Median absolute deviation from the median."""
    middle = median(values)
    return median([abs(v - middle) for v in values])


def percentile(values: Sequence[float], pct: float) -> float:
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * pct / 100) - 1)]


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """An interval for the median that holds for any distribution: counted from both ends. With
    fewer than six values it is all of them."""
    ordered = sorted(values)
    n = len(ordered)
    if n > MANY:
        half = statistics.NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(n) / 2
        skipped = max(0, math.floor(n / 2 - half) - 1)
        return ordered[skipped], ordered[n - 1 - skipped]
    skipped, chance = 0, 0.5**n
    while 2 * chance <= 1 - confidence and skipped < (n - 1) // 2:
        skipped += 1
        chance += math.comb(n, skipped) * 0.5**n
    skipped = max(0, skipped - 1)
    return ordered[skipped], ordered[n - 1 - skipped]


def outliers(values: Sequence[float]) -> int:
    """Values far above the others: OUTLIER spreads, and at least 5 % of the median."""
    middle, spread = median(values), 1.4826 * deviation(values)
    return sum(v > middle + max(OUTLIER * spread, 0.05 * abs(middle)) for v in values)


def summary(values: Sequence[float]) -> dict[str, Any]:
    """All of it for one column of measurements in milliseconds."""
    low, high = median_interval(values)
    return {"median_ms": median(values), "mad_ms": deviation(values), "low_ms": low,
            "high_ms": high, "mean_ms": statistics.fmean(values), "min_ms": min(values),
            "p95_ms": percentile(values, 95), "max_ms": max(values), "outliers": outliers(values)}


def rank_sum_limit(n: int, error: float) -> int:
    """The largest c so that the sum of signed ranks of n coin tosses is at most c with a chance of
    error / 2; -1 when there is none."""
    if n > EXACT:
        mean = n * (n + 1) / 4
        sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return math.floor(mean - 0.5 + statistics.NormalDist().inv_cdf(error / 2) * sd)
    ways = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    limit, seen = -1, 0
    while limit + 1 < len(ways) and (seen + ways[limit + 1]) / 2**n <= error / 2:
        limit += 1
        seen += ways[limit]
    return limit


def walsh(values: Sequence[float]) -> list[float]:
    """Means of all pairs, each value with itself too, in order."""
    return sorted((values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i + 1))


@dataclass
class Estimate:
    """How much longer the second variant takes, in percent, and how sure that is."""

    pairs: int
    change_pct: float
    low_pct: float
    high_pct: float

    @property
    def is_known(self) -> bool:
        """Whether there are enough pairs for an interval."""
        return math.isfinite(self.low_pct)

    @property
    def excludes_zero(self) -> bool:
        return self.low_pct > 0 or self.high_pct < 0

    def within(self, pct: float) -> bool:
        """Whether the whole interval is smaller than that either way."""
        return -pct < self.low_pct and self.high_pct < pct


def estimate(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """From paired times: the median of ratios and its interval."""
    ratios = [math.log(b / a) for a, b in zip(before, after) if a > 0 and b > 0]
    n = len(ratios)
    if n == 0:
        return Estimate(0, 0.0, -math.inf, math.inf)
    limit = rank_sum_limit(n, LOOK_ERROR) if n >= FIRST_LOOK else -1
    means = walsh(ratios)
    middle = median(means)
    if limit >= 0:
        low, high = means[limit], means[-1 - limit]
    elif n >= LEAST_PAIRS:  # so few that ranks cannot be sure
        middle = statistics.fmean(ratios)
        half = student.limit(n - 1, LOOK_ERROR) * statistics.stdev(ratios) / math.sqrt(n)
        low, high = middle - half, middle + half
    else:
        low, high = -math.inf, math.inf
    return Estimate(n, *(100 * math.expm1(v) if math.isfinite(v) else v
                         for v in (middle, low, high)))


@dataclass
class Verdict:
    """Whether two variants differ."""

    estimate: Estimate
    threshold_pct: float

    @property
    def word(self) -> str:
        """slower, faster, no_difference, or unknown when there are too few measurements."""
        found = self.estimate
        if not found.is_known:
            return "unknown"
        if found.excludes_zero and abs(found.change_pct) >= self.threshold_pct:
            return "slower" if found.change_pct > 0 else "faster"
        return "no_difference"

    @property
    def resolution_pct(self) -> float:
        """The smallest difference that these measurements would have shown."""
        found = self.estimate
        return max(found.high_pct - found.change_pct, found.change_pct - found.low_pct,
                   self.threshold_pct)

    @property
    def is_settled(self) -> bool:
        """Whether more measurements would not change the word."""
        return self.word in ("slower", "faster") or self.estimate.within(self.threshold_pct)

    def as_dict(self) -> dict[str, Any]:
        found = self.estimate
        return {"verdict": self.word, "change_pct": found.change_pct, "low_pct": found.low_pct,
                "high_pct": found.high_pct, "confidence_pct": 100 * (1 - LOOK_ERROR),
                "pairs": found.pairs, "threshold_pct": self.threshold_pct,
                "resolution_pct": self.resolution_pct}


def best_of(times: Sequence[float], variants: int, seconds: float) -> int:
    """How many calls a round should take the best of, going by a few times of one variant (in
    milliseconds) and the time there is for all rounds."""
    best, mean = min(times), statistics.fmean(times)
    if best <= 0 or 100 * (mean / best - 1) <= NOISY_PCT:
        return 1
    affordable = seconds * 1e3 / (LEAST_ROUNDS * variants * mean)
    return max(1, min(BEST_OF, int(affordable)))


def looks() -> Iterator[int]:
    """At how many pairs the verdict is requested."""
    n = float(FIRST_LOOK)
    while n < MOST_PAIRS:
        yield int(n)
        n *= LOOK_GROWTH
    yield MOST_PAIRS


class Race:
    """Pairs of times of a first variant against each other one, until every verdict is settled."""

    def __init__(self, variants: int, threshold_pct: float) -> None:
        self.times: list[list[float]] = [[] for _ in range(variants)]
        self.threshold_pct = threshold_pct
        self._looks = list(looks())
        self._words = ["no_difference"] * variants  # of the look before

    def verdict(self, variant: int) -> Verdict:
        """Of one variant against the first."""
        return Verdict(estimate(self.times[0], self.times[variant]), self.threshold_pct)

    def run(self, sample: Callable[[int], float], shuffle: Callable[[list[int]], None],
            ends: Callable[[int], bool], fixed: int | None = None, best_of: int = 1) -> None:
        """Measures rounds of all variants in an order that `shuffle` gives, until all verdicts are
        settled, `ends(rounds)` says so, or `fixed` rounds are done. Where calls are disturbed a lot
        a round takes the best of several, which are shuffled each on its own."""
        for done in range(1, (fixed or MOST_PAIRS) + 1):
            best = [math.inf] * len(self.times)
            for _ in range(best_of):
                order = list(range(len(self.times)))
                shuffle(order)
                for i in order:
                    best[i] = min(best[i], sample(i))
            for column, value in zip(self.times, best):
                column.append(value)
            if fixed is None and (ends(done) or (self._is_look(done) and self._all_settled())):
                return

    def _is_look(self, done: int) -> bool:
        at = bisect.bisect_left(self._looks, done)
        return at < len(self._looks) and self._looks[at] == done

    def _all_settled(self) -> bool:
        verdicts = [self.verdict(i) for i in range(1, len(self.times))]
        words = ["no_difference", *(v.word for v in verdicts)]
        before, self._words = self._words, words
        return all(v.is_settled for v in verdicts) and (
            words == before or all(word == "no_difference" for word in words))
