"""A graph network adds up messages with deterministic algorithms left on."""
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    nodes, edges, dim = at.size((100_000, 1_000_000, 64), (50, 200, 8))
    source, target = torch.randint(0, nodes, (2, edges), device=at.device)
    layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(4)).to(at.device)
    x = at.randn(nodes, dim, dtype=torch.float32)

    @torch.no_grad()
    def call(deterministic):
        torch.use_deterministic_algorithms(deterministic, warn_only=True)
        h = x
        for layer in layers:
            h = torch.relu(layer(torch.zeros_like(h).index_add_(0, target, h[source])))
        torch.use_deterministic_algorithms(False)
        return h

    return Case("gpu", lambda: call(True), [Fix("off", lambda: call(False), r"(?i)determinis")], n=4)
