"""Guidance as it should be: with and without the prompt in one batch, from large products."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    dim, tokens = at.size((6144, 4096), (16, 4))
    net = nn.Sequential(*[layer for _ in range(at.size(4, 1))
                          for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16).eval()
    start = at.randn(1, tokens, dim)

    @torch.no_grad()
    def sample():
        x = start
        for _ in range(4):
            without, with_prompt = net(x.expand(2, -1, -1)).chunk(2)
            x = torch.lerp(without, with_prompt, 5.0)
        return x

    return Case("healthy", sample, n=2)
