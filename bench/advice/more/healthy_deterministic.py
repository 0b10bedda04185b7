"""Deterministic algorithms are on, and cost nothing: large products only."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    dim = at.size(6144, 16)
    net = nn.Sequential(*[layer for _ in range(at.size(5, 2))
                          for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)
    x = at.randn(at.size(8192, 4), dim)

    def step():
        torch.use_deterministic_algorithms(True, warn_only=True)
        optimizer.zero_grad()
        net(x).sum(dtype=torch.float32).backward()
        optimizer.step()
        torch.use_deterministic_algorithms(False)

    return Case("healthy", step, n=4)
