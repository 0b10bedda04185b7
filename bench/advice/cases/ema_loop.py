"""An exponential moving average of the weights, parameter by parameter, after each call."""
import copy

import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


def build(at):
    dim = at.size(256, 16)
    model = nn.Sequential(*[MLP(dim) for _ in range(at.size(24, 2))]).to(at.device)
    x = at.randn(64, dim, dtype=torch.float32)

    def follower(update):
        shadow = copy.deepcopy(model)

        @torch.no_grad()
        def step():
            model(x)
            update(shadow)
        return step

    def one_by_one(shadow):
        for mean, value in zip(shadow.parameters(), model.parameters()):
            mean.mul_(0.999).add_(value, alpha=0.001)

    def together(shadow):
        torch._foreach_lerp_(list(shadow.parameters()), list(model.parameters()), 0.001)

    step = follower(one_by_one)
    return Case("launch", step, [Fix("foreach", follower(together), says.FOREACH),
                                 Fix("graph", at.lazily(lambda: at.graph(step)), says.GRAPH)], n=6)
