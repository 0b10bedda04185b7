"""Training with an average of the weights that is kept by one call for all of them."""
import copy

import torch
import torch.nn as nn
from case import Case


def build(at):
    dim = at.size(4096, 16)
    net = nn.Sequential(*[layer for _ in range(at.size(6, 2))
                          for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16)
    average = list(copy.deepcopy(net).requires_grad_(False).parameters())
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)
    x = at.randn(at.size(16384, 4), dim)

    def step():
        optimizer.zero_grad()
        net(x).sum(dtype=torch.float32).backward()
        optimizer.step()
        torch._foreach_lerp_(average, list(net.parameters()), 0.01)

    return Case("healthy", step, n=3)
