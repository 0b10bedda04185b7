"""Contrastive training: one network sees two views in turn, each of which fills the GPU."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    dim = at.size(6144, 16)
    net = nn.Sequential(*[layer for _ in range(at.size(4, 2))
                          for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)
    views = [at.randn(at.size(8192, 4), dim) for _ in range(2)]

    def step():
        optimizer.zero_grad()
        first, second = map(net, views)
        nn.functional.mse_loss(first, second).backward()
        optimizer.step()

    return Case("healthy", step, n=3)
