"""A stack of MLPs that is replayed as a CUDA graph, with room for the GPU to work."""
import torch
import torch.nn as nn
from case import Case
from parts import MLP


def build(at):
    dim = at.size(2048, 16)
    model = nn.Sequential(*[MLP(dim) for _ in range(at.size(16, 2))]).to(at.device, torch.bfloat16)
    x = at.randn(at.size(2048, 8), dim)
    with torch.no_grad():
        replay = at.graph(at.compile(model), x)

    @torch.no_grad()
    def call():
        return replay()

    return Case("healthy", call, n=8)
