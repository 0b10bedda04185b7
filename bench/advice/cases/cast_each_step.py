"""A float32 table that never changes is cast for its product in every step."""
import says
import torch
from case import Case, Fix


def build(at):
    rows, dim = at.size((65536, 4096), (64, 16))
    table = at.randn(rows, dim, dtype=torch.float32)
    queries = at.randn(at.size(512, 4), dim)
    ready = table.bfloat16()

    def search():
        return (queries @ table.bfloat16().t()).topk(8, dim=-1).values

    def hoisted():
        return (queries @ ready.t()).topk(8, dim=-1).values

    return Case("gpu", search, [Fix("hoisted", hoisted, says.HOIST)], n=6)
