"""A large table stays on the CPU; its rows are looked up there and uploaded for every batch."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


def build(at):
    rows, dim = at.size((500_000, 512), (100, 16))
    table = torch.randn(rows, dim)
    there = table.to(at.device)
    model = blocks(at.size(4, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    ids = torch.randint(rows, (64, at.size(512, 4)))

    @torch.no_grad()
    def on_cpu():
        return model(nn.functional.embedding(ids, table).to(at.device, torch.bfloat16))

    @torch.no_grad()
    def on_gpu():
        return model(nn.functional.embedding(ids.to(at.device), there).to(torch.bfloat16))

    words = r"(?i)embedding|on_cpu|index_select|table"
    return Case("host", on_cpu, [Fix("on_gpu", on_gpu, words)], n=3)
