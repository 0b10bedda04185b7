"""AdamW with foreach=False: a dozen kernels for each parameter."""
import copy

import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


def build(at):
    dim = at.size(256, 16)
    model = nn.Sequential(*[MLP(dim) for _ in range(at.size(16, 2))]).to(at.device)
    x = at.randn(64, dim, dtype=torch.float32)

    def trainer(net, **how):
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, **how)

        def step():
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
        return step

    return Case("launch", trainer(model, foreach=False), [
        Fix("fused", trainer(copy.deepcopy(model), fused=True), says.FUSED),
        Fix("foreach", trainer(copy.deepcopy(model), foreach=True), says.FOREACH)], n=4, n_full=3)
