"""Scores are normalised over their first dimension, so that every read strides over the rest."""
import torch
from case import Case, Fix

unforeseen = True


def build(at):
    a, b = at.size((256, 1 << 18), (8, 16))
    scores, weight = at.randn(a, b, dtype=torch.float32), at.randn(b, dtype=torch.float32)

    def eager():
        y = scores - scores.amax(0, keepdim=True)
        y = torch.exp(y * 0.5)
        y = y / y.sum(0, keepdim=True)
        return (y * weight).sum(1)

    fused = at.compile(eager)
    return Case("gpu", eager, [Fix("compile", fused, r"(?i)torch\.compile|\bfuse|one kernel|softmax")], n=8)
