"""A compiled stack of transformer blocks with long inputs."""
import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(2048, 32)
    model = blocks(at.size(6, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    compiled = at.compile(model)
    x = at.randn(8, at.size(4096, 8), dim)

    @torch.no_grad()
    def call():
        return compiled(x)

    return Case("healthy", call, [Fix("graph", at.lazily(lambda: at.graph(call)), says.GRAPH)], n=4)
