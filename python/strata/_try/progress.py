"""What is going on, on standard error: one line per process, with the time that is left."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

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
        self.say(f"{what} (about {_clock(expected_s)}; {_clock(left)} of the time left)")

    def measured(self, name: str, found: Any) -> None:
        if found is not None:
            self.say(f"{name}: {found.change_pct:+.1f} %, {found.verdict.word.replace('_', ' ')}")

    def failed(self, name: str, reason: str) -> None:
        self.say(f"{name}: failed: {reason}")

    def done(self) -> None:
        """The report follows."""


def _clock(seconds: float) -> str:
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min"
