"""Batches stream in and out by pinned memory on streams of their own while the GPU computes."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    dim, rows = at.size((4096, 16384), (16, 8))
    model = nn.Sequential(*[nn.Linear(dim, dim) for _ in range(at.size(6, 2))]).to(at.device, torch.bfloat16)
    pinned = dict(dtype=torch.bfloat16, pin_memory=not at.cpu)
    source, result = torch.zeros(rows, dim, **pinned), torch.zeros(rows, dim, **pinned)
    if at.cpu:
        return Case("healthy", lambda: model(source), n=4)
    up, down, main = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.current_stream()
    inputs = [torch.zeros(rows, dim, device=at.device, dtype=torch.bfloat16) for _ in range(2)]
    count = [0]

    @torch.no_grad()
    def step():
        mine, other = inputs[count[0] % 2], inputs[1 - count[0] % 2]
        count[0] += 1
        up.wait_stream(main)
        with torch.cuda.stream(up):
            other.copy_(source, non_blocking=True)
        y = model(mine)
        down.wait_stream(main)
        with torch.cuda.stream(down):
            result.copy_(y, non_blocking=True)
            y.record_stream(down)
        main.wait_stream(up)

    return Case("healthy", step, n=6)
