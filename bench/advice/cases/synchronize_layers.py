"""Timing code that was left in: a synchronize after every block."""
import time

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim, layers = at.size((768, 12), (16, 2))
    model = blocks(layers, dim, at.size(12, 2)).to(at.device, torch.bfloat16).eval()
    x, seconds = at.randn(2, at.size(1024, 8), dim), []

    def synchronize():
        if not at.cpu:
            torch.cuda.synchronize()

    @torch.no_grad()
    def call():
        y = x
        seconds.clear()
        for block in model:
            start = time.perf_counter()
            y = block(y)
            synchronize()
            seconds.append(time.perf_counter() - start)
        return y

    @torch.no_grad()
    def without():
        y = x
        for block in model:
            y = block(y)
        return y

    return Case("host", call, [Fix("no_sync", without, says.NO_SYNC + "|synchronize")], n=6, n_full=4)
