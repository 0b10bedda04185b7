"""What is going on, on standard error: one line per process, with the time that is left."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from strata._try import judge
from strata.bench.errors import one_line


class Progress:
    """Lines for people."""

    def __init__(self, deadline: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.deadline = deadline
        self.clock = clock

    def say(self, text: str) -> None:
        print(f"strata try: {one_line(text)}", file=sys.stderr, flush=True)

    def trial(self, name: str, n: int, expected_s: float) -> None:
        self.say_trial(f"{name}, process {n}", expected_s)

    def say_trial(self, what: str, expected_s: float) -> None:
        left = max(self.deadline - self.clock(), 0.0)
        self.say(f"{what} (takes about {duration(expected_s)}; {duration(left)} of --time left)")

    def measured(self, name: str, found: Any) -> None:
        if found is None:
            return
        word = found.verdict.word
        if word not in ("faster", "slower"):
            word = "not settled yet" if judge.is_open(word, found.low_pct, found.high_pct) else "no gain"
        self.say(f"{name}: {found.change_pct:+.1f} %, {word}")

    def failed(self, name: str, reason: str) -> None:
        self.say(f"{name}: failed: {reason}")

    def done(self) -> None:
        """The report follows."""


def duration(seconds: float) -> str:
    """90 s, 5 min."""
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min"
