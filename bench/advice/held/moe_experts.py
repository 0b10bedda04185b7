"""Experts are called one by one on the tokens that nonzero finds for them."""
import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


def build(at):
    dim, n = at.size((512, 32), (16, 4))
    experts = nn.ModuleList(MLP(dim) for _ in range(n)).to(at.device, torch.bfloat16).eval()
    x = at.randn(at.size(4096, 16), dim)
    choice = torch.arange(x.shape[0], device=at.device) % n
    rows = [(choice == i).nonzero()[:, 0] for i in range(n)]

    @torch.no_grad()
    def call():
        out = torch.zeros_like(x)
        for i, expert in enumerate(experts):
            mine = (choice == i).nonzero()[:, 0]
            out[mine] = expert(x[mine])
        return out

    @torch.no_grad()
    def known():
        out = torch.zeros_like(x)
        for mine, expert in zip(rows, experts):
            out[mine] = expert(x[mine])
        return out

    return Case("host", call, [Fix("graph", at.lazily(lambda: at.graph(known)), says.GRAPH),
                               Fix("no_nonzero", known, says.NO_SYNC)], n=4, n_full=2)
