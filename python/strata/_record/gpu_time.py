"""How long the device worked on a stage, without waiting for it: an event is put into the stream
where the stage begins and ends, and read when the device has passed it."""
from __future__ import annotations

import collections
import random
from typing import Any

from strata._base.device import Accelerator

MOST_PENDING = 10000  # stages whose events the device has not passed yet
SAMPLES = 4096


class StageTimes:
    """Device times of one stage, in milliseconds."""

    def __init__(self) -> None:
        self.count = 0
        self.total_ms = 0.0
        self.samples: list[float] = []

    def add(self, ms: float) -> None:
        self.count += 1
        self.total_ms += ms
        if len(self.samples) < SAMPLES:
            self.samples.append(ms)
        else:
            place = random.randrange(self.count)
            if place < SAMPLES:
                self.samples[place] = ms

    def median_ms(self) -> float:
        ordered = sorted(self.samples)
        n = len(ordered)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2 if n else 0.0


class GpuTime:
    """Device times by node."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.stages: dict[int, StageTimes] = {}
        self.dropped = 0
        self._pending: collections.deque = collections.deque()
        self._free: list[Any] = []

    def mark(self) -> Any:
        """An event at the place the device has been given work up to; None inside a graph."""
        if self.accelerator.capturing():
            return None
        event = self._free.pop() if self._free else self.accelerator.event()
        event.record()
        return event

    def end(self, node: int, begun: Any, ended: Any) -> None:
        """A stage ran between the two marks."""
        if ended is None:
            return
        self._pending.append((node, begun, ended))
        if len(self._pending) > MOST_PENDING:
            self._pending.popleft()
            self.dropped += 1
        self.collect()

    def collect(self, wait: bool = False) -> None:
        """Reads what the device has passed; with `wait`, all of it."""
        while self._pending:
            node, begun, ended = self._pending[0]
            if wait:
                ended.synchronize()
            elif not ended.query():
                return
            self._pending.popleft()
            try:
                self.stages.setdefault(node, StageTimes()).add(begun.elapsed_time(ended))
            except Exception:  # the two are of different devices: no such time
                self.dropped += 1
                continue
            self._free += (begun, ended)

    def reset(self) -> None:
        self.stages.clear()
        self._pending.clear()
        self.dropped = 0
