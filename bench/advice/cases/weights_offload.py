"""A model larger than one likes: every block is brought from pageable memory for its call."""
import copy

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(2048, 16)
    host = blocks(at.size(6, 2), dim, at.size(16, 2)).bfloat16().eval()
    there = copy.deepcopy(host[0]).to(at.device)
    x = at.randn(1, at.size(4096, 8), dim)
    pinned = copy.deepcopy(host)
    if not at.cpu:
        for p in pinned.parameters():
            p.data = p.data.pin_memory()

    def call(blocks_, non_blocking):
        @torch.no_grad()
        def unit():
            y = x
            for block in blocks_:
                for mine, theirs in zip(there.parameters(), block.parameters()):
                    mine.copy_(theirs, non_blocking=non_blocking)
                y = there(y)
            return y
        return unit

    return Case("transfer", call(host, False), [Fix("pinned", call(pinned, True), says.PINNED)], n=4)
