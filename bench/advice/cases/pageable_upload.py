"""Each step uploads its batch from pageable memory."""
import says
import torch
from case import Case, Fix
from parts import MLP


def build(at):
    dim = at.size(2048, 16)
    model = torch.nn.Sequential(*[MLP(dim) for _ in range(at.size(4, 1))]).to(at.device, torch.bfloat16)
    batches = [torch.randn(at.size(16384, 8), dim).bfloat16() for _ in range(2)]
    pinned = batches if at.cpu else [batch.pin_memory() for batch in batches]
    count = [0]

    @torch.no_grad()
    def step():
        count[0] += 1
        return model(batches[0].to(at.device))

    @torch.no_grad()
    def async_pinned():
        count[0] += 1
        return model(pinned[0].to(at.device, non_blocking=True))

    return Case("transfer", step, [Fix("pinned", async_pinned, says.PINNED)], n=6)
