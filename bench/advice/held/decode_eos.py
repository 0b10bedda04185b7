"""A decode loop that asks after every token whether all sequences have ended."""
import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


def build(at):
    dim, vocab, tokens = at.size((2048, 32000, 24), (32, 50, 3))
    model = blocks(at.size(6, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    embed = nn.Embedding(vocab, dim).to(at.device, torch.bfloat16)
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    start = torch.zeros(64, 32, dtype=torch.long, device=at.device)

    def decode(until_end):
        x = embed(start)
        for _ in range(tokens):
            token = head(model(x)[:, -1]).argmax(-1)
            if until_end and bool((token == vocab + 1).all()):
                break
            x = torch.cat([x[:, 1:], embed(token)[:, None]], 1)
        return x

    return Case("host", torch.no_grad()(lambda: decode(True)),
                [Fix("no_check", torch.no_grad()(lambda: decode(False)), says.NO_SYNC)], n=2, n_full=1)
