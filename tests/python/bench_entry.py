"""Entries for the tests of strata bench: pipelines, functions, and what can go wrong with them."""
import dataclasses

import torch

import strata
import tiny_pipeline


def load():
    return tiny_pipeline.make()


def call(pipe):
    return torch.from_numpy(tiny_pipeline.call(pipe))


def broken():
    raise RuntimeError("the checkpoint is gone")


def wants(path):
    return path


def too_large():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")


class Sampler:
    """An object with a decorated method, state, and a module in it."""

    def __init__(self):
        self.model = torch.nn.Linear(4, 4)
        self.step = 0
        self.history = []

    @strata.stage("sample_step")
    def advance(self, x, *rest, scale=1.0):
        if self.step != 1:
            raise ValueError(f"at step {self.step}")
        self.step += 1
        self.history.append(len(rest))
        x.mul_(scale)
        return self.model(x + sum(rest))


    def reset(self):
        self.step = 0


@dataclasses.dataclass
class Box:
    """What a signature may have built, if it is allowed to."""
    size: object = 1


class Part:
    """What nobody can make up."""


@strata.stage("takes_part")
def takes_part(x, part, other=None):
    return x * part.size


def part():
    made = Part()
    made.size = 2
    return made


def sampler():
    made = Sampler()
    return made


def module():
    torch.manual_seed(0)
    return torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(3)))


LINEAR = module()
INPUT = torch.ones(2, 8)


def linear():
    with torch.no_grad():
        return LINEAR(INPUT)
