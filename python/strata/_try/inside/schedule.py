"""When fixes are on that are turned on and off while the program runs.

Each of them is tested: some units to warm up with it, then pairs of blocks of units with and
without it, in an order that is random for every pair. The program waits for the device between blocks: what
is still in its queue would hide the time of the CPU from the next one. What was on before a block may
reach into its first unit, or into several, so these are left out; a long call has blocks of its own, in
which that does not count."""
from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any

FIRST = 4  # units before the first turn: the program's own warm-up
FIRST_LONG = 2  # of long calls
LEAST_PAIRS = 8
LEAST_LONG_PAIRS = 4


@dataclass(frozen=True)
class Turn:
    """Of one or several fixes that are on together; units are counted from its beginning."""

    fixes: tuple[str, ...]
    warm: int
    block: int
    pairs: int
    seed: int = 1
    settles: int = 1  # units at the beginning of a block that do not count

    @property
    def units(self) -> int:
        return self.warm + 2 * self.block * self.pairs

    @property
    def left_out(self) -> int:
        """Of a block; none of a long call, beside which what was before is small."""
        return 0 if self.block == 1 else self.settles

    @property
    def least(self) -> int:
        """Pairs, at least."""
        return LEAST_LONG_PAIRS if self.block == 1 else LEAST_PAIRS

    def is_on(self, at: int) -> bool:
        if at < self.warm:
            return True
        block = (at - self.warm) // self.block
        first = random.Random(self.seed * 1_000_003 + block // 2).random() < 0.5
        return first == (block % 2 == 0)

    def begins_block(self, at: int) -> bool:
        return at == 0 or at >= self.warm and (at - self.warm) % self.block == 0

    def is_probe(self, at: int) -> bool:
        """The unit whose results are compared: the last of its warm-up."""
        return at == self.warm - 1

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "fixes": list(self.fixes)}


def turn_of(described: dict[str, Any]) -> Turn:
    """From as_dict()."""
    return Turn(**{**described, "fixes": tuple(described["fixes"])})


class Schedule:
    """The turns of a process, one after the other. A turn whose fix does not work is cut short."""

    def __init__(self, turns: list[Turn], first: int = FIRST) -> None:
        self.turns, self.first = turns, first
        self.turn = -1  # before the first
        self.at = 0  # units of the turn so far

    def next_unit(self, k: int, works: Any) -> None:
        """The k-th unit of the program is about to begin; `works(fixes)` is false of broken ones."""
        if self.turn >= 0:
            self.at += 1
        elif k < self.first:
            return
        else:
            self.turn = self.at = 0
        while not self.is_over and (self.at >= self.turns[self.turn].units or not works(
                self.turns[self.turn].fixes)):
            self.turn, self.at = self.turn + 1, 0

    @property
    def is_over(self) -> bool:
        return self.turn >= len(self.turns)

    @property
    def on(self) -> tuple[str, ...]:
        """The fixes that are on during the unit."""
        if self.turn < 0 or self.is_over or not self.turns[self.turn].is_on(self.at):
            return ()
        return self.turns[self.turn].fixes

    @property
    def begins_block(self) -> bool:
        return self.is_over or self.turn >= 0 and self.turns[self.turn].begins_block(self.at)

    @property
    def is_probe(self) -> bool:
        return 0 <= self.turn < len(self.turns) and self.turns[self.turn].is_probe(self.at)
