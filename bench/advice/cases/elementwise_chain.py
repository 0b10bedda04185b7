"""A formula on large tensors, one kernel per operator."""
import says
import torch
from case import Case, Fix


def shade(x, y):
    light = torch.sigmoid(x * 1.7 - 0.2) * torch.cos(y)
    dark = (1 - light).clamp(0, 1) * torch.exp(-y.abs())
    return light * 0.8 + dark * 0.2 + torch.tanh(x - y)


def build(at):
    x, y = (at.randn(at.size(1 << 27, 1 << 10)) for _ in range(2))
    compiled = at.compile(shade)
    return Case("gpu", lambda: shade(x, y), [Fix("compile", lambda: compiled(x, y), says.COMPILE)], n=5)
