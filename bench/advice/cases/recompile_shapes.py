"""A compiled function whose input has another length in every step."""
import itertools

import says
import torch
from case import Case, Fix


def pool(x, scale):
    weights = torch.softmax(x.float().mean(-1) * scale, -1)
    return (x * weights[:, None]).sum(0)


def build(at):
    dim = at.size(1024, 16)
    torch._dynamo.config.recompile_limit = torch._dynamo.config.cache_size_limit = 100_000
    torch._dynamo.config.accumulated_recompile_limit = 100_000
    fixed, free = at.compile(pool, dynamic=False), at.compile(pool, dynamic=True)
    rows = at.randn(at.size(4096, 256), dim)
    lengths = itertools.count(33), itertools.count(33)

    def step():
        fixed(rows[:next(lengths[0])], 0.5)

    def dynamic():
        free(rows[:next(lengths[1])], 0.5)

    return Case("host", step, [Fix("dynamic", dynamic, says.RECOMPILE)], n=2, settle=0)
