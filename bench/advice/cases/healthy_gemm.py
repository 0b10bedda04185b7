"""Large bf16 products, one after the other: tensor cores at their roof."""
import says
import torch
from case import Case, Fix


def build(at):
    dim = at.size(8192, 64)
    x, w = at.randn(dim, dim), at.randn(dim, dim, scale=dim ** -0.5)

    @torch.no_grad()
    def call():
        y = x
        for _ in range(6):
            y = y @ w
        return y

    return Case("healthy", call, [Fix("graph", at.lazily(lambda: at.graph(call)), says.GRAPH)], n=5)
