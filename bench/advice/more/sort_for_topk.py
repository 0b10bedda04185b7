"""Nearest neighbours: all distances are sorted to keep the first 32."""
import torch
from case import Case, Fix

unforeseen = True


def build(at):
    points, queries, dim = at.size((65536, 2048, 64), (100, 8, 4))
    base, asked = at.randn(points, dim, dtype=torch.float32), at.randn(queries, dim, dtype=torch.float32)
    kept = at.size(32, 3)

    def by_sort():
        return torch.cdist(asked, base).sort(dim=1)[0][:, :kept]

    def by_topk():
        return torch.cdist(asked, base).topk(kept, largest=False)[0]

    return Case("gpu", by_sort, [Fix("topk", by_topk, r"(?i)\btop-?k")], n=4)
