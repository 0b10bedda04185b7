"""Every block builds the sines and cosines of all positions again."""
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import Attention, blocks


def table(tokens, dim, device):
    rate = 1 / 10000 ** (torch.arange(0, dim, 2, device=device).float() / dim)
    phase = torch.arange(tokens, device=device).float()[:, None] * rate
    phase = torch.cat([phase, phase], -1)
    return phase.cos().to(torch.bfloat16), phase.sin().to(torch.bfloat16)


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Rotated(Attention):
    kept = None

    def attend(self, q, k, v):
        cos, sin = Rotated.kept or table(q.shape[-2], q.shape[-1], q.device)
        return F.scaled_dot_product_attention(turned(q, cos, sin), turned(k, cos, sin), v)


def build(at):
    dim, heads, tokens = at.size((512, 8, 256), (32, 2, 8))
    model = blocks(at.size(24, 2), dim, heads, Rotated).to(at.device, torch.bfloat16).eval()
    x = at.randn(1, tokens, dim)
    once = table(tokens, dim // heads, at.device)

    @torch.no_grad()
    def call(kept):
        Rotated.kept = kept
        return model(x)

    words = r"(?i)(table|frequenc).{0,80}(again|once|before)|(again|rebuilt|once).{0,80}(table|frequenc)"
    return Case("launch", lambda: call(None),
                [Fix("once", lambda: call(once), words),
                 Fix("graph", at.lazily(lambda: at.graph(lambda: call(None))), r"(?i)cuda[ _-]?graph")], n=4)
