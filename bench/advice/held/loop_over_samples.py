"""A model is called for every sample of a batch."""
import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(512, 16)
    model = blocks(at.size(6, 2), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    batch = at.randn(at.size(16, 2), at.size(64, 4), dim)

    @torch.no_grad()
    def call():
        return torch.cat([model(sample[None]) for sample in batch])

    @torch.no_grad()
    def batched():
        return model(batch)

    graphed = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graphed, says.GRAPH),
                                 Fix("batch", batched, says.BATCH)], n=4, n_full=2)
