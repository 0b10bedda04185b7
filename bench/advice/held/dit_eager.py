"""A diffusion transformer with modulated norms, eager, large enough to fill the GPU."""
import says
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix
from parts import Attention


class DiT(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = Attention(dim, heads)
        self.norm = nn.LayerNorm(dim, elementwise_affine=False)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, shift, scale, gate):
        x = x + gate * self.attention(x * (1 + scale) + shift)
        y = self.norm(x).float() * (1 + scale.float()) + shift.float()
        return x + gate * self.down(F.gelu(self.up(y.to(x.dtype)), approximate="tanh"))


class Stack(nn.Module):
    def __init__(self, n, dim, heads):
        super().__init__()
        self.blocks = nn.ModuleList(DiT(dim, heads) for _ in range(n))

    def forward(self, x, *mod):
        for block in self.blocks:
            x = block(x, *mod)
        return x


def build(at):
    dim = at.size(1536, 16)
    net = Stack(at.size(12, 2), dim, at.size(24, 2)).to(at.device, torch.bfloat16).eval()
    x, mod = at.randn(2, at.size(4096, 8), dim), [at.randn(2, 1, dim, scale=0.1) for _ in range(3)]
    fast = at.compile(net)

    @torch.no_grad()
    def call():
        return net(x, *mod)

    return Case("gpu", call, [Fix("compile", torch.no_grad()(lambda: fast(x, *mod)), says.COMPILE)],
                n=3, tolerance=0.1)
