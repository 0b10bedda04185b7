"""Distances of all pairs are computed by broadcasting the differences."""
import torch
from case import Case, Fix

unforeseen = True


def build(at):
    n, dim = at.size((4096, 64), (16, 4))
    a, b = at.randn(n, dim, dtype=torch.float32), at.randn(n, dim, dtype=torch.float32)

    def by_hand():
        return (a[:, None] - b[None]).pow(2).sum(-1).sqrt().amin(1)

    fused = at.compile(by_hand)
    return Case("gpu", by_hand, [Fix("cdist", lambda: torch.cdist(a, b).amin(1), r"(?i)cdist"),
                                 Fix("compile", fused, r"(?i)torch\.compile|\bfuse|one kernel")], n=4)
