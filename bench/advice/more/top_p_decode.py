"""Tokens are sampled by top-p as in transformers: the logits are sorted, masked and scattered back."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


def build(at):
    dim, vocab, batch, tokens = at.size((1024, 151936, 128, 4), (32, 2000, 2, 2))
    model = blocks(at.size(4, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    norm = nn.LayerNorm(dim, elementwise_affine=False)
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    nn.init.normal_(head.weight, std=6 / dim ** 0.5)
    start = at.randn(batch, 8, dim)

    def top_p(logits, p=0.9):
        ascending, indices = torch.sort(logits, descending=False)
        cumulative = ascending.softmax(dim=-1).cumsum(dim=-1)
        remove = cumulative <= (1 - p)
        remove[..., -1:] = False
        return logits.masked_fill(remove.scatter(1, indices, remove), float("-inf"))

    def sorted_all(logits):
        probabilities = nn.functional.softmax(top_p(logits), dim=-1)
        return torch.multinomial(probabilities, 1), probabilities.amax(-1)

    def top_k_first(logits):
        best = logits.topk(at.size(2048, 500))
        probabilities = nn.functional.softmax(top_p(best.values), dim=-1)
        return best.indices.gather(1, torch.multinomial(probabilities, 1)), probabilities.amax(-1)

    @torch.no_grad()
    def decode(sample):
        x, first = start, None
        for _ in range(tokens):
            token, best = sample(head(norm(model(x)[:, -1])).float())
            x = torch.cat([x[:, 1:], head.weight[token]], 1)
            first = best if first is None else first
        return first

    return Case("gpu", lambda: decode(sorted_all),
                [Fix("top_k", lambda: decode(top_k_first), r"(?i)top-?k|top-?p")], n=3, tolerance=0.2)
