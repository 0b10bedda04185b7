"""A training loop that reads the loss and keeps its books after every step."""
import collections

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(1024, 32)
    model = blocks(at.size(8, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    x = at.randn(8, at.size(1024, 8), dim)
    history, log = collections.deque(maxlen=5000), []

    def train():
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def keep_books(value):
        history.append(value)
        ordered = sorted(history)
        mean = sum(ordered) / len(ordered)
        spread = sum((v - mean) ** 2 for v in ordered) / len(ordered)
        log[:] = [f"{mean:.4f} {spread:.4f} {ordered[len(ordered) // 2]:.4f}"]

    history.extend([1.0] * at.size(5000, 10))

    def step():
        keep_books(train().item())

    last = [1.0]

    def read_late():
        train()
        keep_books(last[0])

    return Case("host", step, [Fix("no_read", read_late, says.NO_SYNC)], n=6, n_full=4)
