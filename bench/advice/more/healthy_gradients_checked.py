"""Training that looks for NaN in all gradients itself, on the GPU, and reads one value per step."""
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
    bad = []

    def step():
        optimizer.zero_grad()
        net(x).float().square().mean().backward()
        norms = torch._foreach_norm([p.grad for p in net.parameters()])
        optimizer.step()
        bad.append(torch.stack(norms).isnan().any())
        if len(bad) > 2 and bad.pop(0).item():
            raise FloatingPointError("NaN")

    return Case("healthy", step, n=4)
