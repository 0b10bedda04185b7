"""Tokens are repeated by predicted durations, in each of several small stages."""
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    dim, stages = at.size((512, 8), (8, 2))
    layers = nn.ModuleList(nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.LayerNorm(dim))
                           for _ in range(stages))
    layers = layers.to(at.device, torch.bfloat16)
    x = at.randn(at.size(4096, 8), dim)
    durations = torch.tensor([1, 2, 1, 0] * (x.shape[0] // 4), device=at.device)
    total = int(durations.sum())

    @torch.no_grad()
    def call(**size):
        y = x
        for layer in layers:
            y = torch.repeat_interleave(layer(layer(layer(y))), durations, 0, **size)
        return y

    return Case("host", call, [Fix("output_size", lambda: call(output_size=total),
                                   r"(?i)output_size|repeat_interleave")], n=5)
