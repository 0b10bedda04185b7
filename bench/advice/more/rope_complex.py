"""Queries and keys of a video transformer are rotated as complex numbers in double precision."""
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import Attention, blocks


def angles(tokens, half, device):
    rate = 1 / 10000 ** (torch.arange(half, device=device, dtype=torch.float64) / half)
    return torch.outer(torch.arange(tokens, device=device, dtype=torch.float64), rate)


class Rotated(Attention):
    table = rotate = None

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(Rotated.rotate(q), Rotated.rotate(k), v)


def build(at):
    dim, heads, tokens = at.size((1536, 12, 4096), (32, 2, 8))
    model = blocks(at.size(6, 1), dim, heads, Rotated).to(at.device, torch.bfloat16).eval()
    phase = angles(tokens, dim // heads // 2, at.device)
    turns = torch.polar(torch.ones_like(phase), phase)
    cos, sin = phase.cos().float(), phase.sin().float()

    def as_complex(x):
        pairs = torch.view_as_complex(x.to(torch.float64).unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turns).flatten(-2).type_as(x)

    def as_real(x):
        a, b = x.float().unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).type_as(x)

    x = at.randn(1, tokens, dim)
    fused = at.compile(as_real)

    @torch.no_grad()
    def call(rotate):
        Rotated.rotate = staticmethod(rotate)
        return model(x)

    words = r"(?i)complex|double|float64|rotat"
    return Case("gpu", lambda: call(as_complex),
                [Fix("real", lambda: call(as_real), words),
                 Fix("fused", lambda: call(fused), r"(?i)torch\.compile|\bfuse|one kernel")], n=3)
