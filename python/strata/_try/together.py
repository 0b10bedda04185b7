"""Fixes together: the best one, and each further one that makes it better."""
from __future__ import annotations

from typing import TYPE_CHECKING

from strata._try import fixes, switching
from strata._try.kinds import Kind, OutOfTime, change_of

if TYPE_CHECKING:
    from strata._try.driver import Driver

CUT_SHORT = "the time was over before every combination was tried"


class Together:
    """All combinations of one run of the command."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def seconds(self) -> float:
        """What they are likely to take: a turn for each, or three processes."""
        hopeful = self._ranked([k for k in self.driver.kinds if k.is_faster or k.is_open])
        n = len(chain(hopeful))
        if not n:
            return 0.0
        if all(k.switched for k in hopeful):
            set_up = max(k.switched[0].taken.set_up_s() for k in hopeful)
            return self.driver.first.wall_s + n * (2 * switching.TURN_S + set_up)
        return 3 * n * max(self.driver.cost(k) for k in hopeful)

    def run(self) -> None:
        """Tries those that were not tried yet."""
        driver = self.driver
        ranked = self._ranked([k for k in driver.kinds if k.is_faster])
        if not chain(ranked):
            return
        try:
            if all(k.switched for k in ranked):
                self._once([self._of(specs) for specs in chain(ranked)])
            else:
                self._in_processes(ranked)
            driver.rounds.further(driver.combinations)
        except OutOfTime:
            if CUT_SHORT not in driver.notes:
                driver.notes.append(CUT_SHORT)
        finally:
            driver.combinations = [k for k in driver.combinations if k.is_tried]

    def _ranked(self, kinds: list[Kind]) -> list[Kind]:
        """The largest gain first; none if nothing is to be combined."""
        return sorted(kinds, key=change_of) if self.driver.options.combine else []

    def _in_processes(self, ranked: list[Kind]) -> None:
        best = ranked[0]
        for kind in ranked[1:]:
            if clash(best.specs, kind.specs):
                continue
            both = self._of([*best.specs, *kind.specs])
            self._once([both])
            if both.failure is None and both.measured is not None and change_of(both) < (
                    change_of(best) - self.driver.options.threshold_pct / 2):
                best = both

    def _once(self, kinds: list[Kind]) -> None:
        self.driver.rounds.once([k for k in kinds if not k.is_tried])

    def _of(self, specs: list[str]) -> Kind:
        """The combination of these fixes, which may have been tried before."""
        known = self.driver.combinations
        found = next((k for k in known if set(k.specs) == set(specs)), None)
        if found is None:
            found = Kind(specs)
            known.append(found)
        return found


def chain(ranked: list[Kind]) -> list[list[str]]:
    """The best two, the best three, ... of those that do not exclude each other."""
    specs: list[str] = []
    out = []
    for kind in ranked:
        if not clash(specs, kind.specs):
            specs = [*specs, *kind.specs]
            out.append(specs)
    return out[1:]


def clash(specs: list[str], more: list[str]) -> bool:
    """Whether some of them change the same thing."""
    slots = {fixes.parse(s).slot for s in specs}
    return any(fixes.parse(s).slot in slots for s in more)
