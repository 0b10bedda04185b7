"""Gradients are accumulated over 16 batches of one sequence, though all fit at once."""
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim, n = at.size((768, 16), (16, 2))
    net = blocks(at.size(12, 1), dim, at.size(12, 2)).to(at.device, torch.bfloat16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-7, fused=not at.cpu)
    batch = at.randn(n, at.size(128, 4), dim)

    def accumulated():
        optimizer.zero_grad()
        total = 0
        for sample in batch.split(1):
            loss = net(sample).square().mean() / n
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return total

    def at_once():
        optimizer.zero_grad()
        loss = net(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Case("launch", accumulated, [Fix("batch", at_once, r"(?i)\bbatch")], n=2, reps=2)
