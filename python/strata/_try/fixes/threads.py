"""threads:N: torch's operators on the CPU use that many threads."""
from __future__ import annotations

import os
import sys
from typing import Any

from strata._try.fixes.base import Fix, FixError, Note


class Threads(Fix):
    name = "threads"
    takes = "N"
    switches = True
    changes = "Operators on the CPU use that many threads (torch.set_num_threads)."
    safe = "If the processors are there; with several processes per machine, each takes as many."
    results = "Rounding of sums."

    def read(self, arguments: list[str]) -> None:
        if len(arguments) != 1 or not arguments[0].isdigit() or not 1 <= int(arguments[0]) <= 4096:
            raise FixError("threads takes a number: threads:8")
        self.n = int(arguments[0])

    @property
    def slot(self) -> str:
        return self.name

    def on_torch(self, torch: Any) -> None:
        self.own = torch.get_num_threads()
        self.plain = torch.set_num_threads

        def set_num_threads(n: int) -> None:
            self.own = n
            if not self.is_on:
                self.plain(n)

        torch.set_num_threads = set_num_threads
        self.switch(self.is_on)

    def switch(self, on: bool) -> None:
        super().switch(on)
        if "torch" in sys.modules:
            self.plain(self.n if on else self.own)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"torch.set_num_threads({self.n})  # or OMP_NUM_THREADS={self.n} in the environment"],
                     after="import torch")]


def usual() -> int:
    """As many as there are processors for the process."""
    return max(1, len(os.sched_getaffinity(0)))
