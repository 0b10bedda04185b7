"""Attention gets the padding mask of a batch in which nothing is padded."""
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import Attention, blocks


class Masked(Attention):
    mask = None

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=Masked.mask)


def build(at):
    dim, tokens = at.size((1024, 4096), (16, 8))
    model = blocks(at.size(6, 1), dim, at.size(8, 2), Masked).to(at.device, torch.bfloat16).eval()
    x = at.randn(2, tokens, dim)
    padding = torch.ones(2, tokens, dtype=torch.bool, device=at.device)

    @torch.no_grad()
    def call(masked):
        Masked.mask = padding[:, None, None, :].expand(2, 1, tokens, tokens) if masked else None
        return model(x)

    return Case("gpu", lambda: call(True), [Fix("no_mask", lambda: call(False), r"(?i)\bmask")], n=3)
