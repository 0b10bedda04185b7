"""scaled_dot_product_attention with a float mask of -inf that only says "causal"."""
import says
import torch
import torch.nn.functional as F
from case import Case, Fix


def build(at):
    heads, tokens = at.size((16, 4096), (2, 64))
    q, k, v = (at.randn(2, heads, tokens, 64) for _ in range(3))

    @torch.no_grad()
    def call():
        mask = torch.full((tokens, tokens), float("-inf"), device=at.device, dtype=q.dtype).triu(1)
        mask = mask.expand(2, heads, tokens, tokens).contiguous()
        out = q
        for _ in range(4):
            out = F.scaled_dot_product_attention(out, k, v, attn_mask=mask)
        return out

    @torch.no_grad()
    def causal():
        out = q
        for _ in range(4):
            out = F.scaled_dot_product_attention(out, k, v, is_causal=True)
        return out

    return Case("gpu", call, [Fix("is_causal", causal, says.IS_CAUSAL)], n=4)
