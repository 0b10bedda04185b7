"""The whole of `strata try`: records the program, tries one fix after the other against the
unchanged program, then the best of them together.

Fixes that can be switched while the program runs alternate in one process (turns.py). For
the others processes alternate: A B B A with one fix, A B C A C B A with two: forward and back, so
that neither a drift of the machine nor a disturbance of some seconds favours one side."""
from __future__ import annotations

import glob
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from strata._base import command as strata_command
from strata._try import budget, compare, fixes, predictions, turns
from strata._try.kinds import Kind, Options, OutOfTime, change_of
from strata._try.progress import Progress, duration
from strata._try.rounds import Rounds
from strata._try.together import Together
from strata._try.trial import Runner, Trial, failure_of

__all__ = ["REPORT", "Driver", "Kind", "Options", "unit_of", "words_of"]

LEAST_CALLS = 6  # of a program that makes few calls the last is made again
LEAST_LONG_CALLS, LONG_S = 3, 5.0  # if a call takes longer than that
STEP_UNITS = 300  # steps after which a trial is ended
FIRST_UNITS = 120  # of the run that looks for the unit
PHASE_S = 10.0  # what comes first, batches without training, may be a phase of its own
UNIT_S = 20.0  # seconds of units after which it is ended, if there are enough
LEAST_STEPS, LEAST_UNITS, LEAST_FIRST = 60, 8, 3
LONGER, GRACE_S = 1.5, 5.0  # what a recording takes beyond the unchanged program, at most
REPORT = "report"  # as a fix: those that the report names
KIND_ORDER = ("call:", "step:optimizer", "step:DataLoader", "step:", "program")


class Driver:
    """One run of the command."""

    def __init__(self, options: Options, folder: str,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.options = options
        self.clock = clock
        self.folder = folder
        self.base = Kind([])
        self.kinds: list[Kind] = []
        self.combinations: list[Kind] = []
        self.predictions = predictions.Predictions()
        self.unit = "program"
        self.main = ""  # what the program calls the module that does most of the work
        self.length: int | None = None  # units of the program, if it is known to end by itself
        self.notes: list[str] = []
        self.untried: list[str] = []
        self.recordings: dict[str, str] = {}  # of --trace, by kind
        self.interrupted = False
        self.began = clock()
        self.deadline = self.began + options.seconds
        self.limit = self.deadline  # until when processes may go on that begin now
        self.runner = Runner(options.command, self._trials_folder(), options.scratch)
        self.progress = Progress(self.deadline, clock)
        self.rounds = Rounds(self)
        self.together = Together(self)

    def _trials_folder(self) -> str:
        for n in range(1, 1000):
            path = os.path.join(self.folder, "try" if n == 1 else f"try_{n}")
            try:
                os.makedirs(path)
                return os.path.abspath(path)
            except FileExistsError:
                continue
        raise OSError(f"{self.folder} is full of trials")

    # ---- the order of things ----

    def run(self) -> None:
        """Everything; Ctrl-C and the end of the time leave what is known by then."""
        try:
            self._first()
            self._record()
            specs = self._specs()
            self.kinds = [Kind([spec]) for spec in specs]
            self._say_what_it_takes()
            self._try_all()
            if self.options.trace:
                self._trace()
        except KeyboardInterrupt:
            self.interrupted = True
        except OutOfTime:
            pass
        except OSError as why:  # a full disk, above all: what is known by then counts
            self.notes.append(f"stopped early: {why}")
        finally:
            self.runner.stop()
            self.progress.done()
        self.untried = [k.name for k in self.kinds if not k.is_tried] if self.kinds else [
            spec for spec in self.options.fixes if spec != REPORT]

    def _record(self) -> None:
        """What the report predicts, from a recording made now or before."""
        trace = self.options.recording
        if trace is None and self.options.record:
            trace = self._recorded()
        if trace is not None:
            self.predictions = predictions.read(trace)
            if self.predictions.trouble:
                self.notes.append(f"no predictions: {self.predictions.trouble}")

    def _recorded(self) -> str | None:
        program = strata_command.program()
        if program is None:
            self.notes.append("nothing was recorded: the strata command is not installed")
            return None
        enough = LONGER * self.first.wall_s + GRACE_S
        is_enough = self.first.ended_early and enough < self.left()  # it goes on for longer than that
        self.progress.say_trial("recording the program once", self.first.wall_s)
        with self._recording(program) as process:
            try:
                process.wait(enough if is_enough else self.left())
            except subprocess.TimeoutExpired:
                if not is_enough:
                    self.notes.append("the recording took all of the time: give more with --time")
            finally:
                if process.poll() is None:
                    process.terminate()
        return self.folder

    def _recording(self, program: str) -> subprocess.Popen:
        """The program under `strata run`; what it prints was passed on before, and the report that follows
        lies in the folder."""
        folder = os.path.join(self.runner.folder, "recording")
        os.makedirs(folder)
        env = {**os.environ, "STRATA_RUN": os.path.abspath(self.folder)}
        env.pop("STRATA", None)
        with open(os.path.join(folder, "stdout.txt"), "wb") as out, open(
                os.path.join(folder, "stderr.txt"), "wb") as errors:
            return subprocess.Popen(
                [program, "run", "--level", "timeline", "--", *self.options.command], env=env,
                cwd=self.runner.place(folder), stdout=out, stderr=errors)

    def _first(self) -> None:
        """The unchanged program: what its unit is, which modules it has, how it ends."""
        self.progress.say("running the unchanged program, to find what to time")
        passed = sys.stderr.fileno() if self.options.json else sys.stdout.fileno()
        found = self.runner.run([], {**self.plan(None), "unit": None}, self.left(), passed)
        self.first = found
        self.unit = unit_of(found)
        self.expected = 0 if found.ended_early else found.status
        self.length = None if found.ended_early else len(found.times(self.unit))
        if found.timed_out:
            self.notes.append("the unchanged program took all of the time: give more with --time, or "
                              "end it earlier with --units")
            raise OutOfTime
        self._check(found)
        # Where modules are searched for to the end, its units take longer than those of the
        # unchanged program.
        if not self.unit.startswith("step:") or self.unit.startswith("step:optimizer"):
            if not self._repeats():
                self.base.trials.append(found)
        if self.unit == "program":
            self.notes.append("no calls or steps were found in the program: it is timed as a whole")

    def _check(self, found: Trial) -> None:
        """A program that cannot be measured is not measured."""
        if not found.is_python:
            self.notes.append("no Python 3.10 or later was started by the program, so no fix can be "
                              "applied to it")
            raise OutOfTime
        if found.error is not None and found.status:
            at = found.error.get("source") or {}
            where = f" at {at['file']}:{at['line']}" if at.get("file") else ""
            self.notes.append(f"the program fails without any fix: {found.error['type']}: "
                              f"{found.error['message']}{where}")
            raise OutOfTime

    def _least_calls(self) -> int:
        times = self.first.times(self.unit)
        return LEAST_LONG_CALLS if times and min(times) > LONG_S * 1e3 else LEAST_CALLS

    def _repeats(self) -> int:
        n, least = len(self.first.times(self.unit)), self._least_calls()
        return least - n if self.unit.startswith("call:") and n < least else 0

    def _specs(self) -> list[str]:
        trains = self.unit.startswith("step:optimizer")
        main = predictions.main_module(self.first.modules)
        self.main = main["name"] if main else ""
        self.predictions.main = {main["name"], main["class"]} if main else set()
        named = predictions.suitable(self.predictions, self.first.modules, trains)
        asked = self.options.fixes or [REPORT]
        found = [s for spec in asked for s in (named if spec == REPORT else [spec])]
        return list(dict.fromkeys(found))

    def plan(self, unit: str | None) -> dict[str, Any]:
        plan: dict[str, Any] = {"unit": unit, "output": self.options.function, "main": self.main,
                                "most_units": self.options.units or STEP_UNITS,
                                "most_s": UNIT_S, "least_units": LEAST_UNITS}
        if unit is None:
            plan["most_s"] = max(UNIT_S, self.options.seconds / 8)
            plan["most_units"], plan["least_units"] = self.options.units or FIRST_UNITS, LEAST_FIRST
            plan["phase_s"] = PHASE_S
        elif unit.startswith("step:"):
            plan["least_units"] = LEAST_STEPS
        if unit is not None and self._repeats():
            n = len(self.first.times(self.unit))
            plan["repeat"] = {"at": n - 1, "times": self._repeats()}
        return plan

    def allow(self, expected_s: float) -> None:
        """Nothing begins that would take longer than the time that is left."""
        if self.limit - self.clock() < expected_s:
            raise OutOfTime

    def unapplied(self, specs: list[str], found: Trial) -> dict[str, Any] | None:
        """Why a fix did not apply to anything, if that is known."""
        for fix in (fixes.parse(s) for s in specs if s not in found.sites):
            if fix.spec in found.skipped or fix.unseen:
                why = found.skipped.get(fix.spec) or fix.unseen
                return {"reason": f"it could not be applied: {why}", "source": None}
        return None

    def left(self) -> float:
        return max(self.deadline - self.clock(), 1.0)

    # ---- trials ----

    def process(self, kind: Kind, units: int = 0) -> Trial:
        """One more process of a kind, ended after so many units."""
        expected = self.cost(kind)
        self.allow(expected)
        self.progress.trial(kind.name, len(kind.trials) + 1, expected)
        plan = {**self.plan(self.unit), **({"most_units": units} if units else {})}
        found = self.runner.run(kind.specs, plan, self.left())
        failure = failure_of(found, self.expected)
        failure = failure or self._too_few(found) or self.unapplied(kind.specs, found)
        kind.trials.append(found)
        if failure is not None:
            if kind is self.base:
                self.notes.append(f"the program itself failed once: {failure['reason']}")
                kind.trials.pop()
            kind.failure = failure if kind is not self.base else None
        return found

    def _too_few(self, found: Trial) -> dict[str, Any] | None:
        """A trial that made fewer calls than it was to make says nothing."""
        n, wanted = len(found.times(self.unit)), self._least_calls() if self._repeats() else 1
        if n >= wanted:
            return None
        seen = f"only {n} of {wanted} {words_of(self.unit)}" if n else f"no {words_of(self.unit)}"
        return {"reason": f"{seen} were seen", "source": None}

    def cost(self, kind: Kind) -> float:
        """What a process of a kind takes."""
        return (kind.trials[-1:] or self.base.trials[-1:] or [self.first])[0].wall_s

    def _say_what_it_takes(self) -> None:
        """Before anything is tried: whether there is time for a first round of everything."""
        planned = turns.Turns(self)
        alternating = [k for k in self.kinds if planned.can(k)]
        apart = [k for k in self.kinds if k not in alternating]
        needed = sum(planned.seconds(k, planned.shortest(k)) for k in alternating)
        needed += planned.start_s if alternating else 0.0
        needed += self.cost(self.base) * (2 * len(apart) + 2 + len(apart) // 4) if apart else 0.0
        if needed > self.left():
            spent = self.clock() - self.began
            self.progress.say(f"{len(self.kinds)} fixes take about {duration(needed)}, and "
                              f"{duration(self.left())} are left: those with the highest predicted gain come "
                              f"first; --time {int(spent + needed) + 1} would do for all")

    def _try_all(self) -> None:
        """Alone, together, and what is not settled again. Time that is left lets more of it be combined."""
        self._alone()
        self.together.run()
        try:
            while self._settled_more():
                self.together.run()
        except OutOfTime:
            pass
        if self.rounds.is_cut_short(self.kinds):
            self.notes.append("the time was over before every fix was settled: --time gives more")

    def _alone(self) -> None:
        """One round for all, then more for those that are not settled; combinations get their time."""
        try:
            self.rounds.once(self.kinds)
            self.limit = self.began + budget.alone_s(self.options.seconds, self.together.seconds())
            self.rounds.further(self.kinds)
        except OutOfTime:
            pass
        finally:
            self.limit = self.deadline

    def _settled_more(self) -> bool:
        """Whether further rounds have shown that another fix is faster."""
        before = sum(k.is_faster for k in self.kinds)
        self.rounds.further(self.kinds)
        return sum(k.is_faster for k in self.kinds) > before

    def best(self) -> Kind | None:
        """What to do: the fastest that was measured and is real."""
        found = [k for k in (*self.kinds, *self.combinations) if k.is_faster]
        return min(found, key=change_of) if found else None

    def _trace(self) -> None:
        """A timeline of each kind, for `strata diff`: recorded apart, because recording costs time."""
        program = strata_command.program()
        if program is None:
            return
        tried = [k for k in (*self.kinds, *self.combinations) if k.failure is None and k.is_tried]
        for n, kind in enumerate([self.base, *tried] if tried else []):
            self.progress.say(f"recording {kind.name}")
            folder = os.path.join(self.runner.folder, f"recording_{n}")
            plain = self.runner.command
            self.runner.command = [program, "run", "--level", "timeline", "-o",
                                   folder, "--", *plain]
            try:
                self.runner.run(kind.specs, self.plan(self.unit), self.left())
            finally:
                self.runner.command = plain
            self.recordings[kind.name] = next(iter(glob.glob(os.path.join(
                glob.escape(folder), "*", "*"))), "")

    def outputs_of(self, kind: Kind) -> dict[str, Any]:
        """Whether a kind computes what the unchanged program does."""
        try:
            for switched in kind.switched if kind.failure is None else ():
                if switched.results:
                    given, plain, again = switched.results
                    return compare.judged(compare.compare(plain, given), compare.compare(plain, again))
            if not self.base.trials or not kind.trials or kind.failure is not None:
                return {"verdict": "unknown"}
            first, last = self.base.trials[0], self.base.trials[-1]
            weights = self.unit.startswith("step:optimizer") and not self.options.function
            own = compare.compare(first, last, weights) if first is not last else None
            return compare.judged(compare.compare(first, kind.trials[0], weights), own)
        except (ArithmeticError, KeyError, TypeError, ValueError) as why:  # files that were damaged
            return {"verdict": "unknown", "why": f"they cannot be read: {why}"}


def unit_of(trial: Trial) -> str:
    """The unit to time: what covers most of the time, and if several cover about as much, the
    outermost kind."""
    totals = {key: sum(times) for key, times in trial.series.items()
              if key.startswith("call:") or len(times) >= 3}
    if not totals:
        return "program"
    most = max(totals.values())
    near = [key for key, total in totals.items() if total >= 0.7 * most]

    def rank(key: str) -> tuple[int, float]:
        return next(i for i, k in enumerate(KIND_ORDER) if key.startswith(k)), -totals[key]

    return min(near, key=rank)


def words_of(unit: str) -> str:
    """The unit in words: "calls of generate"."""
    kind, _, name = unit.partition(":")
    if kind == "call":
        return f"calls of {name}"
    if kind == "step":
        if name == "DataLoader":
            return "batches of the DataLoader"
        return f"steps ({name})" if "optimizer" in name else f"calls of {name}"
    return "the whole program"
