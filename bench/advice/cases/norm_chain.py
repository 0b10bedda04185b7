"""RMS norms written out in float32, with the residual around them."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return x + self.weight * y.to(x.dtype)


def build(at):
    dim = at.size(4096, 64)
    model = nn.Sequential(*[RMSNorm(dim) for _ in range(6)]).to(at.device, torch.bfloat16)
    x = at.randn(8, at.size(4096, 16), dim)
    compiled = at.compile(model)

    @torch.no_grad()
    def call():
        return model(x)

    @torch.no_grad()
    def fused():
        return compiled(x)

    return Case("gpu", call, [Fix("compile", fused, says.COMPILE)], n=5)
