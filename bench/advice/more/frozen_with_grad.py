"""A head is trained on a backbone that is never updated, but whose gradients are computed."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks

unforeseen = True


def build(at):
    dim = at.size(1024, 16)
    backbone = blocks(at.size(12, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16)
    head = nn.Linear(dim, 10).to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(head.parameters(), lr=1e-7)
    x = at.randn(16, at.size(512, 8), dim)

    def step(frozen):
        optimizer.zero_grad()
        backbone.zero_grad()
        with torch.set_grad_enabled(not frozen):
            features = backbone(x)
        loss = head(features.mean(1)).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Case("gpu", lambda: step(False),
                [Fix("frozen", lambda: step(True), r"(?i)frozen|freeze|no_grad|requires_grad")], n=4)
