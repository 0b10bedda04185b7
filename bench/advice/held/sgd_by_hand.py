"""An update written as a loop over the parameters."""
import copy

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(384, 16)
    model = blocks(at.size(16, 2), dim, at.size(6, 2)).to(at.device, torch.bfloat16)
    x = at.randn(16, at.size(64, 4), dim)

    def trainer(net, update):
        parameters = list(net.parameters())

        def step():
            net.zero_grad()
            net(x).square().mean().backward()
            with torch.no_grad():
                update(parameters)
        return step

    def one_by_one(parameters):
        for p in parameters:
            p.grad.clamp_(-1, 1)
            p.mul_(1 - 1e-6)
            p.add_(p.grad, alpha=-1e-5)

    def together(parameters):
        grads = [p.grad for p in parameters]
        torch._foreach_clamp_min_(grads, -1)
        torch._foreach_clamp_max_(grads, 1)
        torch._foreach_mul_(parameters, 1 - 1e-6)
        torch._foreach_add_(parameters, grads, alpha=-1e-5)

    graph = at.lazily(lambda: at.graph(trainer(copy.deepcopy(model), one_by_one)))
    return Case("launch", trainer(model, one_by_one), [
        Fix("graph", graph, says.GRAPH),
        Fix("foreach", trainer(copy.deepcopy(model), together), says.FOREACH)], n=4, n_full=2)
