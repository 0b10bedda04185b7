"""Every layer's output is checked for NaNs by the host."""
import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(768, 16)
    model = blocks(at.size(12, 2), dim, at.size(12, 2)).to(at.device, torch.bfloat16).eval()
    start = at.randn(4, at.size(256, 8), dim)

    def call(check):
        x = start
        for layer in model:
            x = layer(x)
            if check and torch.isnan(x).any():
                raise FloatingPointError("NaN")
        return x

    return Case("host", torch.no_grad()(lambda: call(True)),
                [Fix("no_check", torch.no_grad()(lambda: call(False)), says.NO_SYNC)], n=5, n_full=3)
