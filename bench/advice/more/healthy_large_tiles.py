"""A picture is filtered tile by tile, because all of it would not fit; each tile fills the GPU."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    wide = at.size(512, 4)
    model = nn.Sequential(*[nn.Conv2d(wide, wide, 3, padding=1) for _ in range(at.size(4, 1))])
    model = model.to(at.device, torch.bfloat16, memory_format=torch.channels_last).eval()
    side = at.size(256, 8)
    tiles = [at.randn(1, wide, side, side).to(memory_format=torch.channels_last) for _ in range(4)]
    held = []  # the picture itself, and what it is kept with
    if not at.cpu:
        free = torch.cuda.mem_get_info()[0]
        held.append(torch.empty(free - (8 << 30), dtype=torch.uint8, device=at.device))

    @torch.no_grad()
    def call():
        return [model(tile) for tile in tiles][0]

    return Case("healthy", call, n=4)
