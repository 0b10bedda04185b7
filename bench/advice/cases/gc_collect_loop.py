"""gc.collect() after every call, in a program that holds many objects."""
import gc

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(768, 16)
    model = blocks(at.size(6, 2), dim, at.size(12, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(2, at.size(1024, 8), dim)
    index = {i: [i, str(i)] for i in range(at.size(300_000, 100))}

    @torch.no_grad()
    def step():
        y = model(x)
        gc.collect()
        return y

    @torch.no_grad()
    def without():
        assert index
        return model(x)

    return Case("host", step, [Fix("no_collect", without, says.GC)], n=6, seen_by=("full", "strata"))
