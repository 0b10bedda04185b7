"""Each step fetches its large output into pageable memory."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    dim = at.size(2048, 16)
    model = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))
    model = model.to(at.device, torch.bfloat16)
    x = at.randn(at.size(16384, 8), dim)
    landing = torch.empty(x.shape, dtype=torch.bfloat16, pin_memory=not at.cpu)

    @torch.no_grad()
    def step():
        model(x).cpu()

    @torch.no_grad()
    def async_pinned():
        landing.copy_(model(x), non_blocking=True)

    return Case("transfer", step, [Fix("pinned", async_pinned, says.PINNED)], n=6)
