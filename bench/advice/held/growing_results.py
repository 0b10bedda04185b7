"""Every step's result is appended to one large tensor by torch.cat."""
import says
import torch
from case import Case, Fix


def build(at):
    steps, size = at.size((48, 1 << 22), (4, 64))
    chunk = at.randn(size)

    def call():
        out = chunk[:0]
        for i in range(steps):
            out = torch.cat([out, chunk * i])
        return out

    def listed():
        return torch.cat([chunk * i for i in range(steps)])

    return Case("gpu", call, [Fix("once", listed, says.NO_CAT)], n=3)
