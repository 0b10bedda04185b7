"""Experts one after the other: each product is too small to fill the GPU."""
import says
import torch
from case import Case, Fix


def build(at):
    experts, rows, dim = at.size((64, 128, 1024), (4, 8, 16))
    w = at.randn(experts, dim, dim, scale=dim ** -0.5)
    x = at.randn(experts, rows, dim)

    @torch.no_grad()
    def call():
        y = x
        for _ in range(3):
            y = torch.stack([y[i] @ w[i] for i in range(experts)])
        return y

    @torch.no_grad()
    def batched():
        y = x
        for _ in range(3):
            y = torch.bmm(y, w)
        return y

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("bmm", batched, says.BATCH), Fix("graph", graph, says.GRAPH)], n=6)
