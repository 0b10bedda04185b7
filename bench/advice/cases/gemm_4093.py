"""Products whose dimensions are not a multiple of anything: a vocabulary of 4093."""
import says
import torch
import torch.nn.functional as F
from case import Case, Fix


def build(at):
    odd, even = at.size((4093, 4096), (61, 64))
    x, w = at.randn(odd, odd), at.randn(odd, odd, scale=odd ** -0.5)
    xp, wp = (F.pad(t, (0, even - odd, 0, even - odd)) for t in (x, w))

    @torch.no_grad()
    def call():
        y = x
        for _ in range(6):
            y = y @ w
        return y

    @torch.no_grad()
    def padded():
        y = xp
        for _ in range(6):
            y = y @ wp
        return y[:odd, :odd]

    return Case("gpu", call, [Fix("padded", padded, says.PAD)], n=6)
