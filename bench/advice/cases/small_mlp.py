"""A stack of small MLPs called in a plain loop, without labels."""
import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


def build(at):
    dim = at.size(512, 16)
    model = nn.Sequential(*[MLP(dim) for _ in range(at.size(16, 2))]).to(at.device, torch.bfloat16)
    x = at.randn(64, dim)
    compiled = at.compile(model)

    @torch.no_grad()
    def call():
        return model(x)

    @torch.no_grad()
    def with_compile():
        return compiled(x)

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("compile", with_compile, says.COMPILE)], n=8)
