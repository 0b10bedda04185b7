"""Tokens of a batch are decoded by replaying one captured step."""
import torch
import torch.nn as nn
from case import Case
from parts import blocks


def build(at):
    dim, vocab = at.size((2048, 32000), (16, 100))
    model = blocks(at.size(8, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    x = at.randn(64, 64, dim)

    @torch.no_grad()
    def step():
        return head(model(x)[:, -1]).argmax(-1)

    replay = at.graph(step)

    def decode():
        for _ in range(8):
            replay()

    return Case("healthy", decode, n=3)
