"""Inference under autocast with weights in float32: each call casts all of them again."""
import copy

import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


def build(at):
    dim = at.size(4096, 32)
    with torch.device(at.device):
        model = nn.Sequential(*[MLP(dim) for _ in range(6)])
    half = copy.deepcopy(model).bfloat16()
    x = at.randn(at.size(256, 4), dim, dtype=torch.float32)

    @torch.no_grad()
    def call():
        with torch.autocast(at.device, torch.bfloat16):
            return model(x)

    @torch.no_grad()
    def bf16_weights():
        return half(x.bfloat16())

    return Case("gpu", call, [Fix("bf16_weights", bf16_weights, says.BF16_WEIGHTS)], n=5)
