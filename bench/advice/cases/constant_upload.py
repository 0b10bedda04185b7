"""A list becomes a tensor on the GPU in every layer of every step."""
import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim, layers = at.size((512, 12), (16, 2))
    model = blocks(layers, dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(4, at.size(512, 8), dim)
    scale = [1 + 0.001 * i for i in range(dim)]
    ready = torch.tensor(scale, device=at.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def call():
        y = x
        for block in model:
            y = block(y) * torch.tensor(scale, device=at.device, dtype=torch.bfloat16)
        return y

    @torch.no_grad()
    def hoisted():
        y = x
        for block in model:
            y = block(y) * ready
        return y

    return Case("host", call, [Fix("hoisted", hoisted, says.ON_DEVICE)], n=6, n_full=4)
