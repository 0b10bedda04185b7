"""An MLP whose activation and gate are spelled out between the products."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = nn.Linear(dim, 2 * dim, bias=False)
        self.up = nn.Linear(dim, 2 * dim, bias=False)
        self.down = nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x):
        g, u = self.gate(x), self.up(x)
        g = 0.5 * g * (1 + torch.tanh(0.79788 * (g + 0.044715 * g * g * g)))
        return x + self.down(g * u)


def build(at):
    dim = at.size(1024, 32)
    model = nn.Sequential(*[Gated(dim) for _ in range(4)]).to(at.device, torch.bfloat16)
    x = at.randn(at.size(1 << 17, 64), dim)
    compiled = at.compile(model)

    @torch.no_grad()
    def call():
        return model(x)

    @torch.no_grad()
    def fused():
        return compiled(x)

    return Case("gpu", call, [Fix("compile", fused, says.COMPILE)], n=4)
