"""What a case is: a program as its user wrote it (v0), the fixes that are known to help, and the words
by which a report names each. A file in cases/ has one, built by build(at)."""
import dataclasses
from collections.abc import Callable
from typing import Any

RECORDERS = ("light", "full", "strata")


@dataclasses.dataclass
class Fix:
    name: str
    unit: Callable[[], Any]
    says: str  # a regular expression: a finding that matches names this fix


@dataclasses.dataclass
class Case:
    """A unit is one step or call. It may return a tensor: then that of every fix must be close to
    that of v0. A healthy program's fixes are what was tried and gains nothing."""
    kind: str  # gpu, launch, host, transfer, healthy
    v0: Callable[[], Any]
    fixes: list = dataclasses.field(default_factory=list)
    n: int = 6  # units per trace and per timed round
    n_full: int = 0  # of the trace with stacks; 0: n
    reps: int = 0  # units per timed round where n is too few; 0: n
    settle: int = 1  # units before each round and trace
    rounds: int = 7
    tolerance: float = 0.05  # of the difference of results, relative to v0's largest
    seen_by: tuple = RECORDERS  # recordings that hold what the cause is known by
    recorders: tuple = RECORDERS  # those that can be made
    wait: Callable[[], Any] | None = None  # until the device is done; None: torch's


class Skip(Exception):
    """The case cannot be measured here; the text says why."""


class Place:
    """Where a case runs: on the GPU in full size, or small on a CPU to try the harness."""

    def __init__(self, cpu=False, small=False):
        self.cpu, self.small = cpu, small
        self.device = "cpu" if cpu else "cuda"

    def size(self, big, small):
        return small if self.small else big

    def randn(self, *shape, dtype=None, scale=1.0):
        import torch
        return torch.randn(*shape, device=self.device, dtype=dtype or torch.bfloat16) * scale

    def compile(self, what, **options):
        """torch.compile; on a CPU only its front end, since code for a CPU is not the point."""
        import torch
        if self.cpu:
            options = {k: v for k, v in options.items() if k != "mode"} | {"backend": "eager"}
        return torch.compile(what, **options)

    def graph(self, step, *inputs):
        """step(*inputs) as one CUDA graph; call with new inputs of the same shapes."""
        import torch
        if self.cpu:
            return lambda *new: step(*(new or inputs))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step(*inputs)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = step(*inputs)

        def replay(*new):
            for old, value in zip(inputs, new):
                if value is not old:
                    old.copy_(value)
            graph.replay()
            return out
        return replay

    def lazily(self, make):
        """The callable that make() returns, made at its first call: its failure is that fix's."""
        made = []

        def unit():
            if not made:
                made.append(make())
            return made[0]()
        return unit
