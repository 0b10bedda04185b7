"""Fixes that are tried in one process, one after the other, each on and off: starting the program is
most of what a trial costs, and processes differ more than the units of one."""
from __future__ import annotations

import os
import re
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from strata._try import fixes, pauses, switching
from strata._try.kinds import Kind, Switched
from strata._try.trial import Trial, failure_of, reason_of, write_trace
from strata._try.warmup import warm_up

if TYPE_CHECKING:
    from strata._try.driver import Driver

UNPREDICTED_PCT = 2.0  # what a fix may gain for which nothing is predicted
PAUSES = 1 / 15  # of the time: what a turn may take so that each block has its pauses


class Turns:
    """One round of turns."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        first = driver.first
        times = first.times(driver.unit)
        self.unit_ms = statistics.fmean(times[warm_up(times):]) if times else 0.0
        self.between = pauses.period(times)
        self.before = switching.FIRST_LONG if switching.is_long(driver.unit, self.unit_ms) else (
            switching.FIRST)  # units before the first turn
        # What a process takes besides: to start, above all.
        self.start_s = max(first.wall_s - sum(times) / 1e3, 0.0)
        self.more_s = 0.0  # for each turn

    def run(self, kinds: list[Kind]) -> list[Kind]:
        """Takes turns with all that can, and returns the others."""
        waiting = [k for k in kinds if self.can(k)]
        waiting.sort(key=self._worth, reverse=True)
        left = [k for k in kinds if k not in waiting]
        # A process that has been started is worth twice the time: another look would start one more.
        self.more_s = self.start_s / max(len(waiting), 1)
        while waiting:
            group = self._fitting(waiting)
            if not group:
                return left + waiting
            before = len(waiting), self.most
            self._process(group)
            waiting = [k for k in waiting if k.failure is None and not self._is_done(k, group)]
            if (len(waiting), self.most) == before:
                return left + waiting
        return left

    def can(self, kind: Kind) -> bool:
        """Whether it can be switched while the program runs."""
        return self.unit_ms > 0 and self.driver.unit != "program" and kind.failure is None and all(
            fixes.parse(s).switches for s in kind.specs)

    @property
    def most(self) -> int | None:
        """How many units a process has, if that is known: calls are made again where there are too few."""
        return None if self.driver.unit.startswith("call:") else self.driver.length

    def turn(self, kind: Kind, pairs: int = 0) -> switching.Turn:
        """The next one, with as many pairs as it should have, or with so many."""
        block = kind.pause_block
        if block:
            most = PAUSES * self.driver.options.seconds * 1e3 / max(self.unit_ms_of(kind), 1e-3)
            block = pauses.block(self.between, block, int(most / (2 * switching.LEAST_PAIRS)))
        turn = switching.planned(tuple(kind.specs), self.driver.unit, self.unit_ms_of(kind), block,
                                 len(kind.switched) + 1, kind.settles(self.driver.unit), self.more_s)
        return replace(turn, pairs=min(pairs, turn.pairs)) if pairs else turn

    def shortest(self, kind: Kind) -> switching.Turn:
        """The next one with as few pairs as can be judged."""
        turn = self.turn(kind)
        return replace(turn, pairs=min(turn.least, turn.pairs))

    def unit_ms_of(self, kind: Kind) -> float:
        """What a unit takes in its turns: by those it had, because a process with many fixes in it can
        be slower than the program alone."""
        if not kind.switched:
            return self.unit_ms
        off, on = kind.switched[-1].taken.pairs()
        return statistics.fmean([*off, *on])

    def seconds(self, kind: Kind, turn: switching.Turn) -> float:
        """What it takes, with the set-up that is known from the turns before."""
        known = max((s.taken.set_up_s() for s in kind.switched), default=0.0)
        return known + turn.units * self.unit_ms_of(kind) / 1e3

    def _worth(self, kind: Kind) -> float:
        """Its predicted gain per second of testing: the time may be over before the others are
        tested."""
        gains = [self.driver.predictions.at_most(spec) or UNPREDICTED_PCT for spec in kind.specs]
        set_up = sum(fixes.parse(spec).set_up_s for spec in kind.specs)
        return max(gains) / (2 * switching.TURN_S + set_up)

    def _room(self) -> float:
        """Units that a process has, and has time for."""
        left_s = self.driver.limit - self.driver.clock() - self.start_s
        room = left_s * 1e3 / max(self.unit_ms, 1e-3)
        return (room if self.most is None else min(room, self.most)) - self.before

    def _fitting(self, kinds: list[Kind]) -> list[tuple[Kind, switching.Turn]]:
        """Those that have room in one process: with fewer pairs, if that lets more of them in."""
        room = self._room()
        wanted = [(kind, self.turn(kind)) for kind in kinds]
        if sum(turn.units for _, turn in wanted) <= room:
            return wanted
        group = []
        for kind in kinds:
            least = self.shortest(kind)
            if least.units <= room:
                room -= least.units
                group.append((kind, least))
        more = int(room / max(sum(2 * turn.block for _, turn in group), 1))
        return [(kind, self.turn(kind, turn.pairs + more)) for kind, turn in group]

    def _process(self, group: list[tuple[Kind, switching.Turn]]) -> None:
        driver = self.driver
        units = self.before + sum(turn.units for _, turn in group)
        expected = self.start_s + sum(self.seconds(kind, turn) for kind, turn in group)
        driver.allow(expected)
        names = [kind.name for kind, _ in group]
        what = names[0] if len(names) == 1 else f"{len(names)} fixes, one after the other,"
        driver.progress.say_trial(f"{what} on and off in one process", expected)
        specs = list(dict.fromkeys(s for kind, _ in group for s in kind.specs))
        found = driver.runner.run(specs, self._plan(group, units), driver.left())
        self._take(group, found)

    def _plan(self, group: list[tuple[Kind, switching.Turn]], units: int) -> dict[str, Any]:
        driver = self.driver
        plan = {**driver.plan(driver.unit), "turns": [turn.as_dict() for _, turn in group],
                "first": self.before, "most_units": 0, "most_s": 0.0}
        n = len(driver.first.times(driver.unit))
        plan.pop("repeat", None)
        if driver.unit.startswith("call:") and n < units and not driver.first.ended_early:
            plan["repeat"] = {"at": n - 1, "times": units + 1 - n}
        return plan

    def _take(self, group: list[tuple[Kind, switching.Turn]], found: Trial) -> None:
        """What each kind has got."""
        if not (found.ended_early or found.timed_out or self._broke(found)):
            self.driver.length = len(found.times(self.driver.unit))  # fewer than it seemed
        for number, (kind, turn) in enumerate(group):
            failed = next((found.failures[s] for s in kind.specs if s in found.failures), None)
            taken = switching.Taken(turn, found.turns.get(number, {}))
            if failed is not None:
                kind.failure = reason_of(failed)
            elif found.last_turn == number and self._broke(found):
                kind.failure = failure_of(found, self.driver.expected)
            elif taken.pairs()[0]:
                kind.failure = self.driver.unapplied(kind.specs, found)
            if kind.failure is not None:
                self.driver.progress.failed(kind.name, kind.failure["reason"])
            elif len(taken.pairs()[0]) >= turn.least:
                kind.switched.append(Switched(taken, found, number, self._traces(taken, found)))

    def _broke(self, found: Trial) -> bool:
        """Whether the program did not end as it does."""
        return not found.timed_out and not found.ended_early and found.status != self.driver.expected

    def _traces(self, taken: switching.Taken, found: Trial) -> str:
        name = re.sub(r"[^A-Za-z0-9.+-]+", "_", "+".join(taken.turn.fixes))[:80]
        off, on = taken.pairs()
        for side, times in (("without", off), ("with", on)):
            write_trace(os.path.join(found.folder, name, side), self.driver.unit, times)
        return f"{os.path.basename(found.folder)}/{name}"

    def _is_done(self, kind: Kind, group: list[tuple[Kind, switching.Turn]]) -> bool:
        return any(member is kind and kind.switched and kind.switched[-1].taken.turn is turn
                   for member, turn in group)
