"""A KV cache that grows by torch.cat: every token copies all of it."""
import says
import torch
import torch.nn.functional as F
from case import Case, Fix


def build(at):
    batch, heads, past, wide = at.size((16, 32, 4096, 128), (1, 2, 16, 8))
    layers = at.size(4, 2)
    k, v = at.randn(batch, heads, past, wide), at.randn(batch, heads, past, wide)
    new, q = at.randn(batch, heads, 1, wide), at.randn(batch, heads, 1, wide)
    kept = [torch.cat([k, new], 2) for _ in range(layers)], [torch.cat([v, new], 2) for _ in range(layers)]

    @torch.no_grad()
    def token():
        x = q
        for _ in range(layers):
            keys, values = torch.cat([k, new], 2), torch.cat([v, new], 2)
            x = F.scaled_dot_product_attention(x, keys, values)
        return x

    @torch.no_grad()
    def preallocated():
        x = q
        for keys, values in zip(*kept):
            keys[:, :, past:] = new
            values[:, :, past:] = new
            x = F.scaled_dot_product_attention(x, keys, values)
        return x

    return Case("gpu", token, [Fix("preallocated", preallocated, says.NO_CAT)], n=6)
