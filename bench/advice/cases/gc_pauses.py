"""Records of each step are parsed into many small objects beside a large index: the garbage collector
walks the index again and again."""
import gc

import says
import torch
from case import Case, Fix
from parts import blocks


def parse(count):
    """The step's records, as a JSON reader would return them."""
    rows = [{"label": i % 10, "box": [i, i + 1]} for i in range(count)]
    return sum(row["label"] for row in rows)


def build(at):
    dim = at.size(768, 16)
    model = blocks(at.size(6, 2), dim, at.size(12, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(2, at.size(1024, 8), dim)
    live, each = at.size((150_000, 8000), (1000, 100))
    index = [{"id": i, "where": [i]} for i in range(live)]

    @torch.no_grad()
    def step():
        gc.enable()
        parse(each)
        return model(x)

    @torch.no_grad()
    def without():
        gc.disable()
        parse(each)
        assert index
        return model(x)

    return Case("host", step, [Fix("gc_off", without, says.GC)], n=24, n_full=12, seen_by=("strata",))
