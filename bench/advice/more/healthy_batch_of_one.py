"""One conversation: a large model decodes token by token from a CUDA graph, with a static cache."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case


def build(at):
    dim, heads, context = at.size((8192, 64, 1024), (16, 2, 8))
    sizes = (dim, 3 * dim), (dim, dim), (dim, 3 * dim), (3 * dim, dim)
    layers = nn.ModuleList(nn.ModuleList(nn.Linear(*size, bias=False) for size in sizes)
                           for _ in range(at.size(6, 1))).to(at.device, torch.bfloat16)
    keys, values = (at.randn(len(layers), 1, heads, context, dim // heads) for _ in range(2))
    x = at.randn(1, 1, dim)

    @torch.no_grad()
    def token():
        y = x
        for i, (qkv, out, up, down) in enumerate(layers):
            q, k, v = qkv(y).view(1, 1, 3, heads, -1).permute(2, 0, 3, 1, 4)
            keys[i, :, :, -1:] = k
            values[i, :, :, -1:] = v
            y = y + out(F.scaled_dot_product_attention(q, keys[i], values[i]).transpose(1, 2).flatten(2))
            y = y + down(F.silu(up(y)))
        return y

    return Case("healthy", at.graph(token), n=10)
