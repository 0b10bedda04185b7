"""Every denoising step projects the same text to keys and values of every block again."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix
from parts import MLP


class Cross(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.kept = heads, None
        self.norm, self.q, self.out = nn.LayerNorm(dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.kv, self.mlp = nn.Linear(4 * dim, 2 * dim), MLP(dim, 1)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, text, keep):
        if self.kept is None or not keep:
            self.kept = [self.split(part) for part in self.kv(text).chunk(2, -1)]
        y = F.scaled_dot_product_attention(self.split(self.q(self.norm(x))), *self.kept)
        return self.mlp(x + self.out(y.transpose(1, 2).flatten(2)))


def build(at):
    dim, heads, tokens, words = at.size((1536, 24, 1024, 2048), (16, 2, 8, 4))
    net = nn.ModuleList(Cross(dim, heads) for _ in range(at.size(12, 2))).to(at.device, torch.bfloat16)
    x, text = at.randn(2, tokens, dim), at.randn(2, words, 4 * dim)

    @torch.no_grad()
    def denoise(keep):
        y = x
        for layer in net:
            layer.kept = None
        for _ in range(at.size(6, 2)):
            for layer in net:
                y = layer(y, text, keep)
        return y

    says = r"(?i)(again|once|same (result|input|work)|kept|cache).{0,120}"
    return Case("gpu", lambda: denoise(False), [Fix("kept", lambda: denoise(True), says)], n=2)
