"""What was requested, and what is tried: the unchanged program, each fix, and fixes together."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from strata._try import fixes, judge, switching
from strata._try.trial import Trial

AS_IT_IS = "the unchanged program"  # the kind without any fix


@dataclass
class Options:
    """What the user asked for."""

    command: list[str]
    recording: str | None = None
    fixes: list[str] = field(default_factory=list)
    seconds: float = 900.0
    threshold_pct: float = 1.0
    folder: str | None = None  # for runs
    function: str = ""  # whose results are compared
    units: int = 0  # after which a process is ended
    scratch: bool = False
    record: bool = True
    combine: bool = True
    blocks: int = 0  # rounds at most; 0: as the time allows
    trace: bool = False
    json: bool = False


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


@dataclass
class Kind:
    """All processes with the same fixes."""

    specs: list[str]
    trials: list[Trial] = field(default_factory=list)
    switched: list[Switched] = field(default_factory=list)  # on and off in one process
    failure: dict[str, Any] | None = None
    measured: judge.Measured | None = None
    looks: int = 0  # verdicts so far
    seen: tuple[int, int] = (0, 0)  # turns, or else processes, that the last of them was made from
    is_stuck: bool = False  # another round has brought nothing

    @property
    def name(self) -> str:
        return " + ".join(self.specs) or AS_IT_IS

    @property
    def is_tried(self) -> bool:
        return bool(self.trials or self.switched or self.failure)

    @property
    def shown(self) -> Trial | None:
        """A process that shows where its fixes apply."""
        every = [*self.trials, *(s.trial for s in self.switched)]
        return every[0] if every else None

    @property
    def is_faster(self) -> bool:
        return self.measured is not None and self.failure is None and (
            self.measured.verdict.word == "faster")

    @property
    def is_open(self) -> bool:
        """Whether it may be a gain that matters, and is not known to be one."""
        m = self.measured
        return self.failure is None and m is not None and judge.is_open(
            m.verdict.word, m.as_dict()["low_pct"], m.as_dict()["high_pct"])

    @property
    def pause_block(self) -> int:
        """Units of a block, of a fix whose gain comes occasionally; else 0."""
        return max((fixes.parse(s).block for s in self.specs), default=0)

    def settles(self, unit: str) -> int:
        """Units into which what was on before them reaches."""
        return max((fixes.parse(s).settles_in(unit) for s in self.specs), default=0)


def change_of(kind: Kind) -> float:
    """In percent; 0 of what was not measured."""
    return kind.measured.change_pct if kind.measured is not None else 0.0


class OutOfTime(Exception):
    """The budget does not allow for another process, or there is no point in one."""
