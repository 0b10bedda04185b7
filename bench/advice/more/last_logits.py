"""Prompts are scored: logits of all positions are computed, the last one is used."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks

unforeseen = True


def build(at):
    dim, vocab = at.size((1024, 151936), (16, 100))
    model = blocks(at.size(6, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    x = at.randn(4, at.size(1024, 8), dim)

    @torch.no_grad()
    def call(pick_first):
        y = model(x)
        logits = head(y[:, -1]) if pick_first else head(y).float()[:, -1]
        return logits.float().log_softmax(-1)

    return Case("gpu", lambda: call(False),
                [Fix("last", lambda: call(True), r"(?i)last (position|token)|logits_to_keep")], n=3)
