"""The loss over a large vocabulary is taken of float32 logits of all tokens at once."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix
from parts import blocks


def build(at):
    dim, vocab, tokens = at.size((1024, 128256, 4096), (16, 100, 8))
    model = blocks(at.size(2, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16)
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    weights = [*model.parameters(), *head.parameters()]
    x = at.randn(1, tokens, dim)
    labels = torch.randint(0, vocab, (tokens,), device=at.device)

    def loss(logits, labels):
        return F.cross_entropy(logits.float(), labels)

    fused = at.compile(loss)

    def step(loss):
        for w in weights:
            w.grad = None
        value = loss(head(model(x)[0]), labels)
        value.backward()
        return value.detach()

    return Case("gpu", lambda: step(loss),
                [Fix("compile", lambda: step(fused), r"(?i)torch\.compile|\bfuse|one kernel")], n=3)
