"""A constant tensor is permuted and made contiguous in every step."""
import says
import torch
from case import Case, Fix


def build(at):
    heads, tokens, wide = at.size((32, 16384, 128), (2, 16, 8))
    memory = at.randn(tokens, 4, heads, wide)
    q = at.randn(4, heads, at.size(64, 2), wide)
    ready = memory.permute(1, 2, 3, 0).contiguous()

    def read():
        keys = memory.permute(1, 2, 3, 0).contiguous()
        return torch.softmax(q @ keys, -1)

    def hoisted():
        return torch.softmax(q @ ready, -1)

    return Case("gpu", read, [Fix("hoisted", hoisted, says.HOIST)], n=6)
