"""Adapters are trained beside large frozen layers: they cannot be merged."""
import torch
import torch.nn as nn
from case import Case


class Adapted(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.base = nn.Linear(dim, dim, bias=False).requires_grad_(False)
        self.a, self.b = nn.Linear(dim, rank, bias=False), nn.Linear(rank, dim, bias=False)

    def forward(self, x):
        return torch.relu(self.base(x) + self.b(self.a(x)))


def build(at):
    dim = at.size(8192, 16)
    net = nn.Sequential(*[Adapted(dim, at.size(64, 4)) for _ in range(at.size(4, 2))])
    net = net.to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=1e-7, fused=not at.cpu)
    x = at.randn(at.size(16384, 4), dim)

    def step():
        optimizer.zero_grad()
        net(x).sum(dtype=torch.float32).backward()
        optimizer.step()

    return Case("healthy", step, n=3)
