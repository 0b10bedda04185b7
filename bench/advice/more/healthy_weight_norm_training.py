"""Layers with weight norm in training, where it has to be computed again after every update."""
import torch
import torch.nn as nn
from case import Case
from torch.nn.utils.parametrizations import weight_norm


def build(at):
    dim = at.size(4096, 16)
    net = nn.Sequential(*[layer for _ in range(at.size(5, 2))
                          for layer in (weight_norm(nn.Linear(dim, dim, bias=False)), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)
    x = at.randn(at.size(32768, 4), dim)

    def step():
        optimizer.zero_grad()
        net(x).sum(dtype=torch.float32).backward()
        optimizer.step()

    return Case("healthy", step, n=3)
