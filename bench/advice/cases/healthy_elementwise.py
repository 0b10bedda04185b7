"""A compiled formula: one kernel at the memory's bandwidth."""
import torch
from case import Case


def shade(x, y):
    light = torch.sigmoid(x * 1.7 - 0.2) * torch.cos(y)
    dark = (1 - light).clamp(0, 1) * torch.exp(-y.abs())
    return light * 0.8 + dark * 0.2 + torch.tanh(x - y)


def build(at):
    x, y = (at.randn(at.size(1 << 29, 1 << 10)) for _ in range(2))
    compiled = at.compile(shade)
    return Case("healthy", lambda: compiled(x, y), n=8)
