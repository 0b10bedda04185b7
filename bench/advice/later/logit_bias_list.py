"""A list of forbidden tokens becomes a tensor again for every token that is sampled."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


def build(at):
    dim, vocab, tokens = at.size((1024, 64000, 12), (16, 100, 2))
    model = blocks(at.size(6, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    forbidden = list(range(0, vocab, 4))
    once = torch.tensor(forbidden, device=at.device)
    start = at.randn(16, 32, dim)

    def from_list(logits):
        logits[:, torch.tensor(forbidden, device=logits.device)] = float("-inf")
        return logits

    def from_tensor(logits):
        logits[:, once] = float("-inf")
        return logits

    @torch.no_grad()
    def decode(forbid):
        x = start
        for _ in range(tokens):
            token = forbid(head(model(x)[:, -1])).argmax(-1)
            x = torch.cat([x[:, 1:], head.weight[token][:, None]], 1)
        return x

    words = r"(?i)from_list|torch\.tensor|sync_in_loop|pageable"
    return Case("host", lambda: decode(from_list), [Fix("tensor", lambda: decode(from_tensor), words)], n=2)
