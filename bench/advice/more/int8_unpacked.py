"""Weights are kept in int8 and brought to bf16 before every product."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix


class Packed(nn.Module):
    def __init__(self, linear):
        super().__init__()
        scale = linear.weight.detach().abs().amax(1, keepdim=True) / 127
        self.register_buffer("packed", (linear.weight.detach() / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def unpacked(self):
        return self.packed.to(self.scale.dtype) * self.scale

    def forward(self, x):
        return F.linear(x, self.unpacked())


class Unpacked(nn.Module):
    def __init__(self, packed):
        super().__init__()
        self.register_buffer("weight", packed.unpacked())

    def forward(self, x):
        return F.linear(x, self.weight)


def build(at):
    dim = at.size(4096, 16)
    layers = [Packed(nn.Linear(dim, dim, bias=False).to(at.device, torch.bfloat16))
              for _ in range(at.size(12, 2))]
    model = nn.Sequential(*layers)
    once = nn.Sequential(*map(Unpacked, layers))
    x = at.randn(at.size(64, 2), dim)
    words = r"(?i)unpack|dequanti|(conver|cast).{0,80}(once|again|every)|(once|again).{0,80}(conver|cast)"
    return Case("gpu", torch.no_grad()(lambda: model(x)),
                [Fix("once", torch.no_grad()(lambda: once(x)), words)], n=6)
