"""A vision transformer left in float32."""
import copy

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(1024, 16)
    model = blocks(at.size(8, 2), dim, at.size(16, 2)).to(at.device).eval()
    half = copy.deepcopy(model).bfloat16()
    x = at.randn(8, at.size(1024, 8), dim, dtype=torch.float32)

    @torch.no_grad()
    def tf32():
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            return model(x)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return Case("gpu", torch.no_grad()(lambda: model(x)),
                [Fix("tf32", tf32, says.TF32),
                 Fix("bf16", torch.no_grad()(lambda: half(x.bfloat16())), says.BF16)], n=3)
