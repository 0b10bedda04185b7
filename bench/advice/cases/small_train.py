"""Training a small network in the usual loop: launches take longer than kernels."""
import copy

import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP, regression


def build(at):
    dim = at.size(256, 16)
    model = nn.Sequential(*[MLP(dim) for _ in range(at.size(8, 2))]).to(at.device)
    x, y = at.randn(128, dim, dtype=torch.float32), at.randn(128, dim, dtype=torch.float32)

    def trainer(net, body=None):
        return regression(net, x, y, torch.optim.SGD(net.parameters(), lr=1e-3), body)

    twin = copy.deepcopy(model)
    third = copy.deepcopy(model)
    return Case("launch", trainer(model), [
        Fix("graph", at.lazily(lambda: at.graph(trainer(twin))), says.GRAPH),
        Fix("compile", trainer(third, at.compile(third)), says.COMPILE)], n=6)
