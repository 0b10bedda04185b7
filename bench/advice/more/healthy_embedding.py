"""A language model whose embedding is its output layer: its gradient is dense by need."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case


def build(at):
    dim, vocab, tokens = at.size((6144, 16384, 16384), (16, 50, 8))
    table = nn.Embedding(vocab, dim).to(at.device, torch.bfloat16)
    net = nn.Sequential(*[layer for _ in range(at.size(4, 1))
                          for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    net = net.to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD([*table.parameters(), *net.parameters()], lr=1e-7, fused=not at.cpu)
    ids = torch.randint(0, vocab, (tokens,), device=at.device)

    def step():
        optimizer.zero_grad()
        out = F.linear(net(table(ids)), table.weight)
        out.sum(dtype=torch.float32).backward()
        optimizer.step()

    return Case("healthy", step, n=3)
