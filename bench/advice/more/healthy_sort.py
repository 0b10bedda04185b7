"""Points are sorted by depth and blended in that order: the whole order is needed."""
import torch
from case import Case


def build(at):
    rays, points = at.size((4096, 16384), (8, 32))
    depth = at.randn(rays, points, dtype=torch.float32)
    x = at.randn(at.size(8192, 8), at.size(8192, 8))

    @torch.no_grad()
    def call():
        order = depth.sort(dim=1)[0]
        for _ in range(at.size(6, 1)):
            y = x @ x
        return order[:, ::at.size(64, 4)].contiguous(), y

    return Case("healthy", call, n=4)
