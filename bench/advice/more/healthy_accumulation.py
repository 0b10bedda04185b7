"""Gradients are accumulated over four batches, each of which fills the GPU."""
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    dim = at.size(6144, 16)
    net = nn.Sequential(*[layer for _ in range(at.size(4, 2))
                          for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)
    batches = [at.randn(at.size(8192, 4), dim) for _ in range(4)]

    def loss(x):
        return net(x).float().square().mean() / 4

    fused = at.compile(loss)

    def step(loss=loss):
        optimizer.zero_grad()
        for x in batches:
            loss(x).backward()
        optimizer.step()

    return Case("healthy", step, [Fix("compile", lambda: step(fused), r"torch\.compile")], n=2)
