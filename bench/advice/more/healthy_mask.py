"""Packed sequences: the mask keeps them apart, and the products are large."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.body = nn.Sequential(nn.Linear(dim, 4 * dim, bias=False), nn.ReLU(),
                                  nn.Linear(4 * dim, dim, bias=False))

    def forward(self, x, mask):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.body(y.transpose(1, 2).flatten(2))


def build(at):
    dim, tokens, heads = at.size((8192, 1024, 64), (16, 8, 2))
    layers = nn.ModuleList(Layer(dim, heads) for _ in range(at.size(3, 1)))
    layers = layers.to(at.device, torch.bfloat16).eval()
    x = at.randn(8, tokens, dim, scale=0.1)
    document = torch.arange(tokens, device=at.device) // (tokens // 3)
    mask = (document[:, None] == document) & torch.ones(tokens, tokens, device=at.device).tril().bool()

    @torch.no_grad()
    def call():
        y = x
        for layer in layers:
            y = layer(y, mask)
        return y

    return Case("healthy", call, n=3)
