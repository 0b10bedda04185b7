"""Rounds of trials: one for every fix, then further ones for those that are not settled, as long as the
time allows. After a round there is a look at each of its fixes; budget.py says who gets another."""
from __future__ import annotations

from typing import TYPE_CHECKING

from strata._try import budget, judge, switching, turns
from strata._try.kinds import Kind

if TYPE_CHECKING:
    from strata._try.driver import Driver

IN_A_ROW = 4  # processes with fixes, until it is the turn of the unchanged program
OUTPUT_UNITS = 12  # of a run that is made for its results


class Rounds:
    """All rounds of one run of the command."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.most = driver.options.blocks or budget.MOST_LOOKS

    def once(self, kinds: list[Kind]) -> None:
        """A round: alternately what can be, the rest in processes of its own."""
        left: list[Kind] = []
        try:
            left = turns.Turns(self.driver).run(kinds)
        finally:
            self._look([k for k in kinds if k not in left])
        self._processes([k for k in left if not k.switched and k.failure is None])
        for kind in kinds:
            self._results(kind)

    def further(self, kinds: list[Kind]) -> None:
        """More rounds for what is not settled, and can be in the time that is left."""
        while True:
            chosen = self._chosen(kinds)
            if not chosen:
                return
            looks = [kind.looks for kind in chosen]
            self.once(chosen)
            for kind, before in zip(chosen, looks):
                kind.is_stuck = kind.looks == before

    def is_cut_short(self, kinds: list[Kind]) -> bool:
        """Whether more time would have settled more."""
        return any((k.is_open and k.looks < self.most) or not k.is_tried for k in kinds)

    def _chosen(self, kinds: list[Kind]) -> list[Kind]:
        able = [k for k in kinds if k.is_open and not k.is_stuck]
        planned = turns.Turns(self.driver) if able else None
        left = self.driver.limit - self.driver.clock() - (planned.start_s if planned else 0.0)
        found = [self._standing(k, planned) for k in able if planned]
        return [able[i] for i in budget.chosen(found, left)]

    def _standing(self, kind: Kind, planned: turns.Turns) -> budget.Standing:
        m = kind.measured
        assert m is not None
        n, look = m.verdict.estimate.pairs, kind.looks + 1
        if kind.switched:
            turn = planned.shortest(kind)
            least_s = planned.seconds(kind, turn)
            each_s = 2 * turn.block * planned.unit_ms_of(kind) / 1e3
        else:
            each_s = 2 * self.driver.cost(kind)  # one with the fix, one without
            least_s = 2 * each_s * budget.rounds(look)
        return budget.standing((m.change_pct, m.low_pct, m.high_pct), n, (each_s, least_s),
                               (look, self.most))

    # ---- processes ----

    def _processes(self, kinds: list[Kind]) -> None:
        """As many rounds as the next look takes."""
        if not kinds:
            return
        try:
            for _ in range(budget.rounds(min(k.looks for k in kinds) + 1)):
                self._there_and_back([k for k in kinds if k.failure is None])
        finally:
            self._look(kinds)

    def _there_and_back(self, kinds: list[Kind]) -> None:
        """Every kind twice: forward and back, so that the two processes of a kind are apart, and a
        disturbance of some seconds does not hit both."""
        base = self.driver.base
        if kinds and not base.trials:
            self.driver.process(base)
        self._pass(kinds)
        alive = [k for k in kinds if k.failure is None]
        if len(alive) > 1:
            self.driver.process(base)
        self._pass(alive[::-1])
        if alive:
            self.driver.process(base)

    def _pass(self, kinds: list[Kind]) -> None:
        """Each once, with the unchanged program in between where there are many."""
        for i, kind in enumerate(kinds):
            if i and i % IN_A_ROW == 0:
                self.driver.process(self.driver.base)
            self.driver.process(kind)
            if kind.failure is not None:
                self.driver.progress.failed(kind.name, kind.failure["reason"])

    def _results(self, kind: Kind) -> None:
        """A process for what it computes, if its turns could not show that."""
        if kind.failure is None and not kind.trials and not any(s.results for s in kind.switched):
            if not self.driver.base.trials:
                self.driver.process(self.driver.base)
            if self.driver.process(kind, OUTPUT_UNITS).timed_out:  # what it gains is known all the same
                kind.failure = None
                kind.trials.pop()

    # ---- verdicts ----

    def _look(self, kinds: list[Kind]) -> None:
        """At those that have got something new."""
        for kind in kinds:
            given = len(kind.switched), 0 if kind.switched else len(kind.trials)
            if kind.failure is not None or given == kind.seen:
                continue
            kind.seen, kind.looks = given, kind.looks + 1
            kind.measured = self._measured(kind, budget.level(kind.looks, self.most)) or kind.measured
            self.driver.progress.measured(kind.name, kind.measured)

    def _measured(self, kind: Kind, error: float) -> judge.Measured | None:
        threshold = self.driver.options.threshold_pct
        if kind.switched:
            return switching.measure([s.taken for s in kind.switched], threshold, error,
                                     bool(kind.pause_block))
        before, after = self._times(self.driver.base), self._times(kind)
        others = [judge.scores(list(before.values()), list(self._times(k).values()))[1]
                  for k in (*self.driver.kinds, *self.driver.combinations)
                  if before and k is not kind and not k.switched and k.failure is None and self._times(k)]
        return judge.measure(list(before.values()), list(after.values()), threshold, others,
                             (list(before), list(after)), error)

    def _times(self, kind: Kind) -> dict[int, list[float]]:
        """Of its units, by the place of the process in the sequence of all."""
        unit = self.driver.unit
        return {t.number: t.times(unit) for t in kind.trials if t.times(unit)}
