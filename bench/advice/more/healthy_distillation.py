"""A student and a teacher of the same size: two forward passes of equal shapes, both needed."""
import copy

import torch
import torch.nn as nn
from case import Case


def build(at):
    dim = at.size(6144, 16)
    student = nn.Sequential(*[layer for _ in range(at.size(4, 2))
                              for layer in (nn.Linear(dim, dim, bias=False), nn.ReLU())])
    student = student.to(at.device, torch.bfloat16)
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=1e-7, fused=not at.cpu)
    x = at.randn(at.size(12288, 4), dim)

    def step():
        with torch.no_grad():
            aim = teacher(x)
        optimizer.zero_grad()
        nn.functional.mse_loss(student(x), aim).backward()
        optimizer.step()

    return Case("healthy", step, n=3)
