"""Transformer blocks are run with adapters of rank 32 beside all linear layers."""
import copy

import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


class Adapted(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base, self.scale = base, 0.5
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        self.to(base.weight.device, base.weight.dtype)

    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x)) * self.scale

    @torch.no_grad()
    def merged(self):
        self.base.weight += self.scale * (self.lora_B.weight @ self.lora_A.weight)
        return self.base


def replace(module, make):
    for name, child in list(module.named_children()):
        new = make(child)
        if new is child:
            replace(child, make)
        else:
            setattr(module, name, new)


def build(at):
    dim = at.size(2048, 32)
    model = blocks(at.size(8, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    replace(model, lambda m: Adapted(m, at.size(32, 4)) if isinstance(m, nn.Linear) else m)
    merged = copy.deepcopy(model)
    replace(merged, lambda m: m.merged() if isinstance(m, Adapted) else m)
    x = at.randn(4, at.size(1024, 8), dim)
    return Case("gpu", torch.no_grad()(lambda: model(x)),
                [Fix("merged", torch.no_grad()(lambda: merged(x)), r"(?i)adapter|lora|merge")], n=4)
