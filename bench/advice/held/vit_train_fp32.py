"""A vision transformer trained in float32."""
import copy

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(768, 16)
    model = blocks(at.size(8, 2), dim, at.size(12, 2)).to(at.device)
    x = at.randn(64, at.size(196, 4), dim, dtype=torch.float32)

    def trainer(net, tf32):
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-6, fused=not at.cpu)

        def step():
            torch.backends.cuda.matmul.allow_tf32 = tf32
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
        return step

    fixed = trainer(copy.deepcopy(model), True)
    return Case("gpu", trainer(model, False), [Fix("tf32", fixed, says.TF32)], n=3)
