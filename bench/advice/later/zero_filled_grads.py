"""Gradients are filled with zeros before every step, and added to, instead of being dropped."""
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(4096, 16)
    net = blocks(at.size(6, 1), dim, at.size(32, 2)).to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)
    x, y = at.randn(1, at.size(256, 8), dim), at.randn(1, at.size(256, 8), dim)

    def step(dropped):
        optimizer.zero_grad(set_to_none=dropped)
        F.mse_loss(net(x), y).backward()
        optimizer.step()

    words = r"(?i)set_to_none|zero_grad"
    return Case("gpu", lambda: step(False), [Fix("dropped", lambda: step(True), words)], n=4)
