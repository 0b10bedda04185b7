"""Gradient norms written to the log one parameter at a time."""
import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


def build(at):
    dim = at.size(1024, 16)
    model = nn.Sequential(*[MLP(dim) for _ in range(at.size(12, 2))]).to(at.device, torch.bfloat16)
    x, log = at.randn(at.size(8192, 8), dim), {}

    def train():
        model.zero_grad()
        model(x).square().mean().backward()

    def step():
        train()
        for name, p in model.named_parameters():
            log[name] = p.grad.norm().item()

    names = [name for name, _ in model.named_parameters()]

    def together():
        train()
        log["norms"] = names, torch._foreach_norm([p.grad for p in model.parameters()])

    return Case("host", step, [Fix("no_read", together, says.NO_SYNC)], n=5, n_full=3)
