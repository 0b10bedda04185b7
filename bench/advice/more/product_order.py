"""Features of a factorised layer: the two large factors are multiplied with each other first."""
import torch
from case import Case, Fix

unforeseen = True


def build(at):
    n, batch = at.size((6144, 512), (16, 4))
    a, b = at.randn(n, n, scale=n ** -0.5), at.randn(n, n, scale=n ** -0.5)
    x = at.randn(n, batch)
    return Case("gpu", lambda: torch.relu(a @ b @ x),
                [Fix("order", lambda: torch.relu(a @ (b @ x)), r"(?i)order|bracket|associat|multi_dot")], n=8)
