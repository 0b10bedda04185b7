"""How strata try spends its time, with a program and a machine that are made up: the driver's own rounds,
on a clock that only the simulated processes move."""
import errno
import math
import random

import pytest

from strata._try import budget, judge, switching, turns
from strata._try.driver import Driver
from strata._try.inside import schedule
from strata._try.kinds import Kind, Options
from strata._try.trial import Trial
from strata.bench import student

START_S = 6.0  # of a process


class Machine:
    """Stands for the processes: units that drift, with heavy tails, and with bursts of other load."""

    def __init__(self, seed, folder, gains=(), unit_ms=25.0, noise=0.03, program_units=0, length=0):
        self.random, self.gains = random.Random(seed), dict(gains)
        self.unit_ms, self.noise, self.program_units = unit_ms, noise, program_units
        self.length = length  # units after which the program ends, which the first process does not see
        self.folder, self.count, self.now = str(folder), 0, 0.0
        self.drift = self.burst = 0.0
        self.turns = []  # (fixes, pairs), as they were planned

    def clock(self):
        return self.now

    def stop(self):
        pass

    def unit(self, specs, own):
        """One that takes as long as the machine likes, and the fixes let it."""
        rng = self.random
        self.drift += rng.gauss(0, 0.004) - 0.002 * self.drift
        self.burst = 0.4 if rng.random() < 0.004 else self.burst * 0.9
        tail = rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2) / 3)  # Student's t with 3
        gain = math.prod(1 - self.gains.get(spec, 0.0) for spec in specs)
        factor = math.exp(own + self.drift + self.burst + self.noise * max(min(tail, 30), -8))
        return self.unit_ms * gain * factor

    def run(self, specs, plan, limit_s, stdout=None):
        self.count += 1
        found = Trial(f"{self.folder}/{self.count}", specs, self.count, is_python=True)
        found.sites = {spec: {} for spec in specs}
        own, begins = self.random.gauss(0, 0.03), self.now
        self.now += START_S
        if "turns" in plan:
            self._take_turns(found, [schedule.turn_of(t) for t in plan["turns"]], own)
            found.series[plan["unit"]] = [ms for turn in found.turns.values() for ms in turn.values()]
        else:
            units = self.program_units or min(plan["most_units"], 120)
            found.series[plan["unit"]] = times = [self.unit(specs, own) for _ in range(units)]
            self.now += sum(times) / 1e3
        found.ended_early = ("turns" in plan or not self.program_units) and (
            len(found.times(plan["unit"])) != self.length)
        found.wall_s = self.now - begins
        return found

    def _take_turns(self, found, planned, own):
        self.turns += [(turn.fixes, turn.pairs) for turn in planned]
        for number, turn in enumerate(planned):
            for k in range(turn.units):
                if self.length and sum(map(len, found.turns.values())) == self.length:
                    return
                ms = self.unit(turn.fixes if turn.is_on(k) else (), own)
                found.turns.setdefault(number, {})[k] = ms
                self.now += ms / 1e3
            found.probes[number] = dict.fromkeys(("with", "without", "again"), {})


def look_at(driver, machine, unit="step:Net"):
    """The first process, which finds the unit."""
    driver.unit, driver.expected = unit, 0
    driver.length = machine.program_units or None
    driver.first = machine.run([], {**driver.plan(None), "unit": unit}, 0)
    driver.base.trials.append(driver.first)


def driven(tmp_path, machine, specs, unit="step:Net", rounds="_try_all", **options):
    """A driver that has made its rounds."""
    driver = Driver(Options(["prog"], **options), str(tmp_path), machine.clock)
    driver.runner = machine
    look_at(driver, machine, unit)
    driver.kinds = [Kind([spec]) for spec in specs]
    getattr(driver, rounds)()
    return driver


NOTHINGS = [f"nothing:{i}" for i in range(20)]


@pytest.mark.parametrize("noise", [0.03, 0.12])
@pytest.mark.parametrize("seed", range(4))
def test_twenty_times_nothing_gains_nothing(tmp_path, seed, noise):
    """However often the schedule looks."""
    driver = driven(tmp_path, Machine(seed, tmp_path, noise=noise), NOTHINGS)
    words = [k.measured.verdict.word for k in driver.kinds]
    assert words == ["no_difference"] * 20
    assert max(k.looks for k in driver.kinds) >= (2 if noise > 0.1 else 1)
    assert max(k.looks for k in driver.kinds) <= budget.MOST_LOOKS


@pytest.mark.parametrize("seed", range(6))
def test_long_calls_of_nothing_gain_nothing(tmp_path, seed):
    """Few pairs of single calls at first; a large gain is settled by them."""
    machine = Machine(seed, tmp_path, {"nothing:0": 0.6}, unit_ms=700.0)
    driver = driven(tmp_path, machine, NOTHINGS, "call:generate", seconds=1800)
    words = [k.measured.verdict.word for k in driver.kinds]
    assert words == ["faster"] + ["no_difference"] * 19
    assert driver.kinds[0].looks <= 2 and driver.kinds[0].measured.change_pct == pytest.approx(-60, abs=5)


def test_processes_of_nothing_gain_nothing(tmp_path):
    looks = []
    for seed in range(8):
        specs = [f"loader:{n}" for n in range(1, 6)]
        machine = Machine(seed, tmp_path / str(seed), program_units=30)
        driver = driven(tmp_path, machine, specs, seconds=600)
        assert [k.measured.verdict.word for k in driver.kinds] == ["no_difference"] * 5
        looks += [k.looks for k in driver.kinds]
    assert 3 <= max(looks) <= budget.MOST_LOOKS


def test_gains_are_found_in_the_time_there_is(tmp_path):
    """Which one round does not find; what is settled costs no more, and the time is kept."""
    gains = {"nothing:0": 0.3, "nothing:1": 0.08, "nothing:2": 0.0}
    found = {1: 0, 0: 0}
    for seed in range(8):
        for blocks in found:
            machine = Machine(seed, tmp_path / f"{seed}{blocks}", gains, noise=0.12)
            driver = driven(tmp_path, machine, list(gains), blocks=blocks)
            large, small, none = driver.kinds
            assert large.is_faster and large.looks <= 2 and not none.is_faster
            assert blocks != 1 or small.looks == 1
            assert not small.is_faster or -16 < small.measured.change_pct < -4
            assert driver.clock() < 900
            found[blocks] += small.is_faster
    assert found[0] >= 7 > found[1]


def test_rounds_are_bounded_by_what_the_user_says(tmp_path):
    driver = driven(tmp_path, Machine(1, tmp_path, noise=0.3), NOTHINGS[:4], blocks=2)
    assert max(k.looks for k in driver.kinds) == 2
    assert not driver.notes  # more time would not have helped


def test_turns_become_longer_and_time_is_left_for_combinations(tmp_path):
    machine = Machine(2, tmp_path, {"nothing:0": 0.08, "nothing:1": 0.07}, noise=0.15)
    driver = driven(tmp_path, machine, NOTHINGS[:2], rounds="_alone", seconds=200)
    pairs = [[n for fixes, n in machine.turns if fixes == (spec,)] for spec in NOTHINGS[:2]]
    assert any(len(n) > 1 and n[0] < n[1] for n in pairs) and driver.clock() < 180
    alone = driven(tmp_path, Machine(2, tmp_path / "a", noise=0.3), NOTHINGS[:2], seconds=200, combine=False)
    assert alone.clock() > 130 or not any(k.is_open for k in alone.kinds)
    driver = driven(tmp_path, Machine(2, tmp_path / "b", noise=0.3), NOTHINGS[:2], seconds=200)
    assert driver.clock() < 230  # no process is begun that is expected to take longer than the time
    if any(k.is_open for k in driver.kinds):
        assert driver.notes == ["the time was over before every fix was settled: --time gives more"]


@pytest.mark.parametrize("specs,gains", [(["nothing:0", "nothing:1"], (0.3, 0.2)),
                                         (["alloc:expandable", "nothing:1"], (0.5, 0.2))])
def test_the_best_together(tmp_path, specs, gains):
    """In turns, or in processes where one of them needs these."""
    driver = driven(tmp_path, Machine(5, tmp_path, dict(zip(specs, gains))), specs)
    assert driver.best() is driver.combinations[0] and driver.best().specs == specs
    both = 100 * (math.prod(1 - gain for gain in gains) - 1)
    assert abs(driver.best().measured.change_pct - both) < 5 and driver.clock() < 900


def test_no_time_is_kept_for_fixes_that_exclude_each_other(tmp_path):
    """A module is a graph or compiled: nothing is combined, and the time is for what is not settled."""
    specs = ["graph:net", "compile:net"]
    for seed in range(4):
        machine = Machine(seed, tmp_path / str(seed), dict(zip(specs, (0.7, 0.15))), 900, 0.04, 8)
        driver = driven(tmp_path, machine, specs, "call:Pipe", seconds=120)
        assert [k.is_faster for k in driver.kinds] == [True, True] and not driver.combinations
        assert not driver.notes and driver.clock() <= 120


def test_a_full_disk_leaves_what_is_known(tmp_path, monkeypatch):
    machine = Machine(1, tmp_path, {"nothing:0": 0.5, "nothing:1": 0.3})
    plain = machine.run

    def run(specs, plan, *more):
        if machine.count == 2:  # that of combinations
            raise OSError(errno.ENOSPC, "No space left on device", "try/03")
        return plain(specs, plan, *more)

    machine.run = run
    driver = Driver(Options(["prog"], fixes=NOTHINGS[:2], record=False), str(tmp_path), machine.clock)
    driver.runner = machine
    monkeypatch.setattr(driver, "_first", lambda: look_at(driver, machine))
    driver.run()
    assert driver.best() is driver.kinds[0] and driver.kinds[1].is_faster and not driver.interrupted
    assert driver.notes == ["stopped early: [Errno 28] No space left on device: 'try/03'"]


def test_the_time_that_is_left_settles_more(tmp_path):
    """Kept for combinations, and not used up by them."""
    gains = {"nothing:0": 0.5, "nothing:1": 0.06, "nothing:2": 0.05}
    machine = Machine(3, tmp_path, gains, noise=0.3)
    driver = driven(tmp_path, machine, list(gains), seconds=400)
    together = [k.specs for k in driver.combinations]
    assert driver.clock() > 300 or not any(k.is_open for k in driver.kinds)
    assert len({frozenset(specs) for specs in together}) == len(together)
    for kind in driver.kinds[1:]:
        assert not kind.is_faster or any(kind.specs[0] in specs for specs in together)


def test_a_short_program_takes_what_room_it_has(tmp_path):
    """Turns of 300 steps, then again: as many pairs as fit."""
    machine = Machine(3, tmp_path, {"nothing:0": 0.2}, noise=0.3, program_units=300)
    driver = driven(tmp_path, machine, ["nothing:0"], seconds=300)
    assert driver.kinds[0].looks > 1 and max(n for _, n in machine.turns) == (300 - 4 - 4) // 8


def test_a_program_that_ends_sooner_than_it_seemed(tmp_path):
    """The first process is ended before that. What has had no turn has a shorter one, not processes."""
    machine = Machine(4, tmp_path, {"loader:4": 0.5}, length=200)
    driver = driven(tmp_path, machine, ["nothing:0", "loader:4", "gc:freeze"], combine=False)
    assert driver.length == 200 and all(k.switched for k in driver.kinds[:2])
    assert driver.kinds[1].is_faster and len(driver.kinds[1].trials) <= 1
    assert not driver.kinds[2].switched and len(driver.kinds[2].trials) >= 2  # needs 260 for one look


def test_a_program_that_a_fix_breaks_is_not_shorter(tmp_path):
    """How many units it has is known from those that end as they should."""
    machine = Machine(4, tmp_path, length=20)
    driver = driven(tmp_path, machine, [], combine=False)
    kind, turn = Kind(["nothing:0"]), schedule.Turn(("nothing:0",), 4, 4, 8)
    found = machine.run(["nothing:0"], {"unit": "step:Net", "turns": [turn.as_dict()]}, 0)
    found.status = 1
    turns.Turns(driver)._take([(kind, turn)], found)
    assert driver.length is None
    found.status = 0
    turns.Turns(driver)._take([(kind, turn)], found)
    assert driver.length == 20


def test_turns_count_after_processes(tmp_path):
    driver = driven(tmp_path, Machine(4, tmp_path), ["nothing:0"], rounds="_alone")
    kind = Kind(["nothing:0"])
    kind.trials = [driver.first, driver.first]
    driver.rounds._look([kind])
    assert kind.looks == 1 and kind.measured.verdict.estimate.pairs == 1
    kind.switched = driver.kinds[0].switched[:1]
    driver.rounds._look([kind])
    driver.rounds._look([kind])
    assert kind.looks == 2 and kind.measured.verdict.estimate.pairs >= 8


def test_turns_are_as_long_as_they_are_meant_to_be(tmp_path):
    """Also where units take longer in turns than in the first process, which has no fixes in it."""
    machine = Machine(4, tmp_path, noise=0.3)
    plain = machine._take_turns

    def slower(*words):
        machine.unit_ms = 20 * 25.0
        plain(*words)

    machine._take_turns = slower
    driven(tmp_path, machine, ["nothing"])
    assert machine.turns[0][1] > 15 and switching.LEAST_PAIRS <= machine.turns[1][1] < 12


def test_a_process_that_takes_long_to_start_is_used_for_longer(tmp_path, monkeypatch):
    """Few pairs and another start cost more than many pairs; many fixes share what is added."""
    monkeypatch.setitem(globals(), "START_S", 30.0)
    pairs = {}
    for n in (1, 6):
        machine = Machine(1, tmp_path / str(n), unit_ms=800.0, program_units=8)
        driven(tmp_path, machine, NOTHINGS[:n], "call:generate", rounds="_alone", blocks=1)
        pairs[n] = machine.turns[0][1]
    assert pairs[1] > 15 and switching.LEAST_LONG_PAIRS < pairs[6] < 8


def test_a_round_that_brings_nothing_is_the_last(tmp_path):
    """A program that takes no turns any more is not started again and again."""
    machine = Machine(1, tmp_path, noise=0.3)
    plain = machine._take_turns
    machine._take_turns = lambda *words: plain(*words) if not machine.turns else None
    driver = driven(tmp_path, machine, ["nothing"])
    assert driver.kinds[0].looks == 1 and machine.count == 3


# ---- who is next ----


def standing(change_pct, half_pct, n=10, each_s=1.0, least_s=8.0, look=2):
    pct = change_pct, change_pct - half_pct, change_pct + half_pct
    return budget.standing(pct, n, (each_s, least_s), (look, budget.MOST_LOOKS))


def test_the_chance_of_being_wrong_is_shared_out():
    for most in (1, 2, 5, 40):
        spent = sum(budget.level(look, most) for look in range(1, most + 1))
        assert spent == pytest.approx(budget.ERROR)
    assert budget.level(1) > budget.level(2) == budget.level(5)


def test_most_gain_per_second_first():
    small, large, wide = standing(-2, 2.5), standing(-10, 12), standing(-10, 20)
    assert budget.chosen([small, wide, large], 1000) == [2, 1, 0]
    assert budget.chosen([wide, large], 9) == []  # none of them is settled by then
    assert budget.chosen([large, wide], large.seconds) == [0]
    assert budget.chosen([standing(-10, 12, look=6)], 1000) == []


def test_what_is_missing():
    """Four times the measurements halve the error."""
    assert standing(-10, 12).missing < standing(-10, 24).missing / 2
    assert standing(-6, 8).missing > standing(-12, 8).missing
    assert standing(3, 9).missing < standing(-3, 9).missing  # soon known to be no gain
    unknown = budget.standing((-10, -math.inf, math.inf), 2, (5.0, 10.0), (2, 5))
    assert unknown.missing == 2 and unknown.seconds == 10


def test_time_is_left_for_combinations():
    assert budget.alone_s(900, 0) == 900
    assert budget.alone_s(900, 40) == 820
    assert budget.alone_s(900, 500) == budget.SINGLES * 900


def test_students_table():
    for freedom, error, t in ((1, 0.05, 12.706), (2, 0.001, 31.599), (5, 0.001, 6.869), (9, 1e-4, 6.594),
                              (30, 0.001, 3.646), (1000, 0.05, 1.9623)):
        assert student.limit(freedom, error) == pytest.approx(t, rel=1e-3)


# ---- machines that drift from process to process ----


def test_neighbours_count():
    assert judge.weights([1, 4], [2, 3]) == pytest.approx([0.5, 0.5])  # A B B A
    assert judge.weights([1, 4, 7], [2, 3]) == pytest.approx([0.5, 0.5, 0])
    assert judge.weights([1, 4], [2]) == pytest.approx([2 / 3, 1 / 3])
    assert judge.weights([1, 2], [3]) == [0, 1]  # the time was over before there was another one
    assert judge.weights([2], [1, 3]) == [1]


def drifting(seed, factor, neighbours, rounds=6):
    """A machine that gets slower by an eighth while processes alternate, not evenly."""
    rng, before, after, places = random.Random(seed), [], [], ([], [])
    for k in range(3 * rounds + 1):
        slow = 0.12 * math.sin(k / (3 * rounds) * math.pi) * (2 * k / (3 * rounds))
        is_before = k % 3 == 0
        ms = 100 * math.exp(slow + rng.gauss(0, 0.01)) * (1 if is_before else factor)
        (before if is_before else after).append([ms * math.exp(rng.gauss(0, 0.01)) for _ in range(8)])
        places[not is_before].append(k)
    return judge.measure(before, after, 1.0, order=places if neighbours else None)


def test_the_driver_knows_the_order_of_processes(tmp_path):
    """A machine twice as slow in the second half, with fewer processes: the fix gains a fifth in both."""
    driver = Driver(Options(["prog"]), str(tmp_path))
    driver.unit, kind = "step:Net", Kind(["loader:4"])
    for number, ms in ((1, 10), (2, 8), (3, 8), (4, 10), (7, 20), (8, 16), (10, 20)):
        trials = driver.base.trials if number % 3 == 1 else kind.trials
        trials.append(Trial("", [], number, series={"step:Net": [float(ms)] * 8}))
    assert driver.rounds._measured(kind, 0.001).change_pct == pytest.approx(-20)


def test_processes_drift():
    """Compared with its neighbours a small gain is found that the drift would hide, and none is not."""
    found = [drifting(seed, 0.93, True) for seed in range(20)]
    assert [f.verdict.word for f in found].count("faster") >= 17
    assert abs(sum(f.change_pct for f in found) / 20 + 7) < 0.5
    assert {drifting(seed, 1.0, True).verdict.word for seed in range(40)} == {"no_difference"}
    apart = [abs(drifting(seed, 0.93, n).change_pct + 7) for n in (True, False) for seed in range(20)]
    assert sum(apart[:20]) < sum(apart[20:])
