"""Whether two variants differ, on clocks that are made up: no difference is found where there is
none, a planted one is, whatever the noise does."""
import itertools
import json
import math
import pathlib
import random
import statistics

import pytest

from strata.bench import stats, student


def noise(kind, rng):
    """Factors by which successive calls are disturbed."""
    burst = 0
    for n in itertools.count():
        if kind == "device":
            yield math.exp(rng.gauss(0, 0.004))
        elif kind == "drift":  # gets slower by a third and more as it heats up
            yield (1 + 0.3 * n / 400) * math.exp(rng.gauss(0, 0.015))
        elif kind == "rhythm":  # a neighbour that works every other time
            yield (1.2 if n % 2 else 1.0) * math.exp(rng.gauss(0, 0.005))
        elif kind == "bursts":
            burst = burst - 1 if burst > 0 else rng.randrange(2, 40) if rng.random() < 0.03 else 0
            yield (1.6 if burst else 1.0) * math.exp(rng.gauss(0, 0.015))
        elif kind == "steps":  # a clock that jumps between two speeds
            yield (1.0 if n // 7 % 2 else 1.15) * math.exp(rng.gauss(0, 0.01))
        else:  # a busy machine: most calls are interrupted
            wait = rng.expovariate(2.0) if rng.random() < 0.6 else 0.0
            yield math.exp(rng.gauss(0, 0.01)) + wait


def race(kind, factor, seed, best_of=1, most=400):
    clock = noise(kind, random.Random(seed))
    found = stats.Race(2, 1.0)
    found.run(lambda i: 10 * next(clock) * (factor if i else 1), random.Random(seed + 1000).shuffle,
              lambda done: done >= most, best_of=best_of)
    return found.verdict(1)


KINDS = [("device", 1), ("drift", 1), ("rhythm", 1), ("bursts", 1), ("steps", 1), ("busy", 7)]


@pytest.mark.parametrize("kind, best_of", KINDS)
def test_the_same_is_the_same_twenty_times(kind, best_of):
    words = [race(kind, 1.0, seed, best_of).word for seed in range(20)]
    assert words == ["no_difference"] * 20


@pytest.mark.parametrize("kind, best_of", KINDS)
def test_three_percent_are_found_twenty_times(kind, best_of):
    found = [race(kind, 1.03, 77 + seed, best_of) for seed in range(20)]
    assert [v.word for v in found] == ["slower"] * 20
    assert 2 < statistics.median(v.estimate.change_pct for v in found) < 4
    assert race(kind, 1 / 1.03, 5, best_of).word == "faster"


def test_what_does_not_matter_is_no_difference():
    verdict = race("device", 1.004, 3)
    assert verdict.word == "no_difference" and verdict.is_settled
    assert verdict.as_dict()["resolution_pct"] == 1.0


def test_noise_that_hides_everything_is_told():
    """Few disturbed calls: nothing is claimed, and what would have been seen is said."""
    verdict = race("busy", 1.0, 1, most=20)
    assert verdict.word == "no_difference" and not verdict.is_settled
    assert verdict.resolution_pct > 3


def test_few_pairs():
    """With less than three there is no interval; with some, one that Student's t gives."""
    assert stats.Verdict(stats.estimate([1, 1], [2, 2]), 1.0).word == "unknown"
    assert stats.Verdict(stats.estimate([], []), 1.0).word == "unknown"
    quiet = [10, 10.01, 9.99, 10.02, 10.0]
    found = stats.estimate(quiet, [v * 1.2 + d for v, d in zip(quiet, (0, 0.01, -0.01, 0.02, 0.0))])
    assert stats.Verdict(found, 1.0).word == "slower" and 19 < found.low_pct < found.high_pct < 21
    wild = stats.estimate([10, 14, 9, 12, 20], [12, 9, 15, 11, 14])
    assert stats.Verdict(wild, 1.0).word == "no_difference"


def test_rank_sums_are_counted_out():
    """Against counting all signs; the chance of the limit and of what lies beyond it."""
    for n in (5, 8, 12):
        sums = [sum(r for r, s in enumerate(signs, 1) if s)
                for signs in itertools.product((0, 1), repeat=n)]
        for error in (0.1, 0.02, 0.002):
            limit = stats.rank_sum_limit(n, error)
            assert sum(s <= limit for s in sums) / 2**n <= error / 2
            assert sum(s <= limit + 1 for s in sums) / 2**n > error / 2
    exact, normal = stats.rank_sum_limit(24, 0.01), 24 * 25 / 4 - 2.576 * math.sqrt(24 * 25 * 49 / 24)
    assert abs(exact - normal) < 2


def test_looks_end():
    at = list(stats.looks())
    assert at == sorted(set(at)) and at[0] == stats.FIRST_LOOK and at[-1] == stats.MOST_PAIRS
    assert 2 / 2**stats.FIRST_LOOK <= stats.LOOK_ERROR < 2 / 2**(stats.FIRST_LOOK - 1)


def test_summary():
    values = [10.0, 10.1, 9.9, 10.0, 10.2, 9.8, 30.0]
    found = stats.summary(values)
    assert found["median_ms"] == 10.0 and found["max_ms"] == 30.0 and found["outliers"] == 1
    assert round(found["mad_ms"], 6) == 0.1
    assert found["low_ms"] == 9.8 and found["high_ms"] == 30.0
    assert stats.median_interval([5.0]) == (5.0, 5.0)
    many = [float(i) for i in range(1001)]
    low, high = stats.median_interval(many)
    assert 460 < low < 500 < high < 540
    assert stats.outliers([1.0] * 5) == 0


def test_the_interval_of_a_median_holds():
    """Nineteen times of twenty it has the true median in it."""
    rng = random.Random(4)
    held = 0
    for _ in range(400):
        low, high = stats.median_interval([rng.expovariate(1.0) for _ in range(15)])
        held += low <= math.log(2) <= high
    assert held >= 375


def test_best_of():
    assert stats.best_of([10.0, 10.1, 10.05], 2, 30) == 1
    assert stats.best_of([10.0, 15.0, 12.0], 2, 30) == 7
    assert stats.best_of([1000.0, 1500.0, 1200.0], 2, 30) == 1  # no time for more


def test_what_it_is_decided_on():
    """Processor time where calls wait for the processor, and compute on one."""
    race = pytest.importorskip("strata.bench.race")
    waits = [{"wall_ms": 10.0 + n, "cpu_ms": 9.9} for n in range(5)]
    assert race.decided_on(waits, False, 7) == "cpu"
    assert race.decided_on(waits, False, 1) == "wall"
    assert race.decided_on(waits, True, 7) == "wall"
    threads = [{"wall_ms": 10.0, "cpu_ms": 38.0}]
    assert race.decided_on(threads, False, 7) == "wall"


class Device:
    """A device that works at its own pace: what Stopwatch asks of torch.cuda."""

    def __init__(self):
        self.given_ms = 0.0
        self.waited = 0
        self.slept = 0

    def synchronize(self):
        self.waited += 1

    def _sleep(self, cycles):
        self.slept += 1
        self.given_ms += 100.0

    def Event(self, enable_timing):
        device = self

        class Made:
            def record(self):
                self.at = device.given_ms

            def elapsed_time(self, end):
                return end.at - self.at

        return Made()


def test_device_times_are_those_of_calls_in_a_row():
    alone = pytest.importorskip("strata._pipeline.single_call")

    class Call:
        prepared = 0

        def prepare(self):
            Call.prepared += 1
            watch.device.given_ms += 7.0  # what is put back between calls is not part of them

        def restores(self):
            return False

        def __call__(self):
            watch.device.given_ms += 3.0

    watch = alone.Stopwatch()
    watch.device = Device()
    samples = alone.measure(watch, Call(), iterations=5)
    assert [s["gpu_ms"] for s in samples] == [3.0] * 5 and set(samples[0]) == {
        "wall_ms", "cpu_ms", "gpu_ms"}
    assert Call.prepared == 10 and watch.device.slept == 0
    before = watch.device.waited
    assert watch.on_device(Call(), 4) == [3.0] * 4 and watch.device.waited == before + 2
    watch.settle(Call(), [{"wall_ms": 2.0, "cpu_ms": 1.9}] * 3)  # the CPU is the slower one
    assert watch.lead_ms > 1.9
    assert watch.on_device(Call(), 2) == [3.0] * 2 and watch.device.slept == 2
    watch.settle(Call(), [{"wall_ms": 0.01, "cpu_ms": 0.01}] * 3)
    assert watch.batch == 100


def test_warm_up_ends_when_it_is_steady():
    alone = pytest.importorskip("strata._pipeline.single_call")

    class Watch(alone.Stopwatch):
        def __init__(self, times):
            super().__init__()
            self.times = iter(times)

        def sample(self, call):
            return {"wall_ms": next(self.times)}

    class Call:
        def restores(self):
            return True

    compiled = [5000, 900, 20, 11, 10.1, 10, 10.05, 10.02, 10.01] + [10.0] * 50
    calls, steady = alone.warm_up(Watch(compiled), Call())
    assert steady and calls == 8
    falling = [1000 * 0.95**n for n in range(200)]
    calls, steady = alone.warm_up(Watch(falling), Call())
    assert not steady and calls == alone.MOST_WARMUP
    assert alone.warm_up(Watch(falling), Call(), calls=2) == (2, True)


def test_a_difference_is_judged_as_everywhere():
    """C's side (tests/unit/test_diff.c) reads the same file."""
    vectors = json.loads((pathlib.Path(__file__).parent.parent / "difference_vectors.json").read_text())
    for freedom, error, limit in vectors["student"]:
        assert student.limit(freedom, error) == pytest.approx(limit, rel=1e-5)
    for change, low, high, word in vectors["verdict"]:
        assert stats.Verdict(stats.Estimate(20, change, low, high), 1.0).word == word


def full_run(tmp_path, **stage):
    (tmp_path / "timing.json").write_text(json.dumps({"stages": {"unet": {"count": 30, **stage}}}))
    return str(tmp_path)


def test_times_are_judged_by_the_spread_of_the_full_run(tmp_path):
    """+9.7 % is nothing in a run whose own calls differ by more; it is something in a steady one."""
    from strata.bench import against, screen
    alone = {"wall": {"median_ms": 43.9, "low_ms": 43.8, "high_ms": 44.0}}
    noisy = against.duration(full_run(tmp_path, median_ms=40.0, p95_ms=48.0), "unet", alone, 3.0)
    assert noisy["same"] and 12 < noisy["full_spread_pct"] < 12.3
    assert screen.check_words(noisy) == ("yes time: 43.9 ms, in the full run 40.0 ms (+9.7 %; 30 calls), "
                                         "within the 12 % by which its own calls differ")
    steady = against.duration(full_run(tmp_path, median_ms=40.0, p95_ms=41.0), "unet", alone, 3.0)
    assert not steady["same"] and "by which" not in screen.check_words(steady)
    few = against.duration(full_run(tmp_path, median_ms=40.0, p95_ms=80.0, count=2), "unet", alone, 3.0)
    assert not few["same"]


def test_another_number_of_threads_is_named(tmp_path):
    torch = pytest.importorskip("torch")
    from strata.bench import against
    here = torch.get_num_threads()
    (tmp_path / "environment.json").write_text(json.dumps({"torch": {"threads": here + 1}}))
    (note,) = against.machine(str(tmp_path), "CPU")
    assert note.startswith(f"torch computes on {here} threads here, on {here + 1} in the full run")
    (tmp_path / "environment.json").write_text(json.dumps({"torch": {"threads": here}}))
    assert against.machine(str(tmp_path), "CPU") == []
