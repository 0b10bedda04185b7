"""Fixes that are tried in one process, one after the other, each on and off: starting the program is
most of what a trial costs, and processes differ more than the units of one."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strata._try import fixes, judge, switching
from strata._try.trial import Trial, failure_of, reason_of, write_trace
from strata.bench import stats

if TYPE_CHECKING:
    from strata._try.driver import Driver, Kind

# Those that come last: a capture that fails may take the process with it, compiling takes long.
LAST = ("graph", "compile")


@dataclass
class Switched:
    """The turn of one kind in a process."""

    taken: switching.Taken
    trial: Trial
    number: int
    folder: str = ""  # in that of the trials: its units with and without, as traces

    @property
    def results(self) -> tuple[Trial, Trial, Trial] | None:
        """(with, without, without again); None where they could not be compared."""
        found = self.trial.probes.get(self.number, {})
        if not {"with", "without", "again"} <= set(found):
            return None
        a, b, c = (Trial(self.trial.folder, [], outputs={0: found[which]})
                   for which in ("with", "without", "again"))
        return a, b, c


class Turns:
    """One round of turns."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        first = driver.first
        times = first.times(driver.unit)
        self.unit_ms = stats.median(times[judge.warm_up(times):]) if times else 0.0
        # How many units a process has: calls are made again where there are too few.
        self.most = None if first.ended_early or driver.unit.startswith("call:") else len(times)

    def run(self, kinds: list[Kind]) -> list[Kind]:
        """Takes turns with all that can, and returns the others."""
        waiting = [k for k in kinds if self._can(k)]
        waiting.sort(key=lambda k: max(_place(s) for s in k.specs))
        left = [k for k in kinds if k not in waiting]
        while waiting:
            group = self._fitting(waiting)
            if not group:
                return left + waiting
            before = len(waiting)
            self._process(group)
            waiting = [k for k in waiting if k.failure is None and not self._is_done(k, group)]
            if len(waiting) == before:  # the program has fewer units than it seemed
                return left + waiting
        return left

    def _can(self, kind: Kind) -> bool:
        return self.unit_ms > 0 and self.driver.unit != "program" and kind.failure is None and all(
            fixes.parse(s).switches for s in kind.specs)

    def _turn(self, kind: Kind, least: bool = False) -> switching.Turn:
        block = max(fixes.parse(s).block for s in kind.specs)
        turn = switching.planned(tuple(kind.specs), self.driver.unit, self.unit_ms, block,
                                 len(kind.switched) + 1)
        return switching.Turn(turn.fixes, turn.warm, turn.block, switching.LEAST_PAIRS,
                              turn.seed) if least else turn

    def _fitting(self, kinds: list[Kind]) -> list[tuple[Kind, switching.Turn]]:
        """Those that have room in one process: with fewer pairs, if that lets more of them in."""
        for least in (False, True):
            room = float("inf") if self.most is None else self.most - switching.FIRST
            group = []
            for kind in kinds:
                turn = self._turn(kind, least)
                room -= turn.units
                if room < 0:
                    break
                group.append((kind, turn))
            if len(group) == len(kinds):
                break
        return group

    def _process(self, group: list[tuple[Kind, switching.Turn]]) -> None:
        driver = self.driver
        units = switching.FIRST + sum(turn.units for _, turn in group)
        expected = driver.first.wall_s + units * self.unit_ms / 1e3
        driver.allow(expected)
        names = [kind.name for kind, _ in group]
        what = names[0] if len(names) == 1 else f"{len(names)} fixes, one after the other,"
        driver.progress.say_trial(f"{what} on and off in one process", expected)
        specs = list(dict.fromkeys(s for kind, _ in group for s in kind.specs))
        found = driver.runner.run(specs, self._plan(group, units), driver.left())
        self._take(group, found)
        driver.judge()

    def _plan(self, group: list[tuple[Kind, switching.Turn]], units: int) -> dict[str, Any]:
        driver = self.driver
        plan = {**driver.plan(driver.unit), "turns": [turn.as_dict() for _, turn in group],
                "most_units": 0, "most_s": 0.0}
        n = len(driver.first.times(driver.unit))
        plan.pop("repeat", None)
        if driver.unit.startswith("call:") and n < units and not driver.first.ended_early:
            plan["repeat"] = {"at": n - 1, "times": units + 1 - n}
        return plan

    def _take(self, group: list[tuple[Kind, switching.Turn]], found: Trial) -> None:
        """What each kind has got."""
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
            elif len(taken.pairs()[0]) >= switching.LEAST_PAIRS:
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


def _place(spec: str) -> int:
    name = spec.split(":")[0]
    return LAST.index(name) + 1 if name in LAST else 0
