"""Tokens chosen with a boolean mask: each choice has to know how many there are."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    dim, layers = at.size((1024, 16), (16, 2))
    model = nn.ModuleList([nn.Linear(dim, dim) for _ in range(layers)]).to(at.device, torch.bfloat16)
    x = at.randn(at.size(16384, 16), dim)

    @torch.no_grad()
    def call():
        y = x.clone()
        for layer in model:
            keep = y[:, 0] > 0
            y[keep] = torch.tanh(layer(y[keep]))
        return y

    @torch.no_grad()
    def where():
        y = x.clone()
        for layer in model:
            keep = y[:, :1] > 0
            y = torch.where(keep, torch.tanh(layer(y)), y)
        return y

    return Case("host", call, [Fix("where", where, says.NO_SYNC)], n=6, tolerance=2)
