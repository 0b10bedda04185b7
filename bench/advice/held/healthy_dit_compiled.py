"""The diffusion transformer of dit_eager, compiled."""
import torch
from case import Case
from dit_eager import Stack


def build(at):
    dim = at.size(2048, 16)
    net = at.compile(Stack(at.size(8, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval())
    x, mod = at.randn(2, at.size(4096, 8), dim), [at.randn(2, 1, dim, scale=0.1) for _ in range(3)]
    return Case("healthy", torch.no_grad()(lambda: net(x, *mod)), n=4)
