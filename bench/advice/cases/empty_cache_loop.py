"""torch.cuda.empty_cache() after every step, "to save memory"."""
import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(1024, 16)
    model = blocks(at.size(6, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(8, at.size(1024, 8), dim)

    @torch.no_grad()
    def call():
        y = model(x)
        if not at.cpu:
            torch.cuda.empty_cache()
        return y

    @torch.no_grad()
    def without():
        return model(x)

    return Case("host", call, [Fix("without", without, says.NO_EMPTY_CACHE)], n=6, n_full=4)
