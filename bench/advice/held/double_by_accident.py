"""A float64 constant from NumPy turns a chain of float32 operators into float64."""
import numpy
import says
import torch
from case import Case, Fix


def build(at):
    x = at.randn(64, at.size(1 << 20, 64), dtype=torch.float32)
    scale = torch.from_numpy(numpy.linspace(0.5, 1.5, 64)[:, None]).to(at.device)

    def chain(s):
        y = torch.tanh(x * s)
        y = y * torch.sigmoid(y) + y.square()
        return (y - y.mean(1, keepdim=True)) / (y.std(1, keepdim=True) + 1e-5)

    single = scale.float()
    return Case("gpu", lambda: chain(scale),
                [Fix("compile", at.compile(lambda: chain(scale)), says.COMPILE),
                 Fix("float32", lambda: chain(single), r"(?i)float64|double")], n=6)
