"""One token against large weights: the products read their weights at full speed, from a CUDA graph."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    dim = at.size(8192, 16)
    layers = nn.Sequential(*[nn.Linear(dim, dim, bias=False) for _ in range(at.size(24, 2))])
    layers = layers.to(at.device, torch.bfloat16)
    x = at.randn(1, dim)
    with torch.no_grad():
        step = at.graph(lambda: layers(x))
    return Case("healthy", step, n=10)
