"""Rows are summed into a few groups by index_add, whose atomic additions collide."""
import torch
from case import Case, Fix

unforeseen = True


def build(at):
    rows, dim, groups = at.size((1 << 20, 256, 16), (64, 8, 4))
    x = at.randn(rows, dim)
    group = torch.randint(groups, (rows,), device=at.device)

    def by_index_add():
        return torch.zeros(groups, dim, device=at.device).index_add_(0, group, x.float())

    def by_product():
        member = torch.nn.functional.one_hot(group, groups).to(x.dtype)
        return (member.t() @ x).float()

    return Case("gpu", by_index_add, [Fix("product", by_product, r"(?i)index_add|atomic")], n=6)
