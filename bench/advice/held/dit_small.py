"""A diffusion transformer with modulated norms, eager, on a few tokens."""
import says
import torch
from case import Case, Fix
from dit_eager import Stack


def build(at):
    torch.manual_seed(0)
    dim = at.size(512, 16)
    net = Stack(at.size(12, 2), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    x, mod = at.randn(2, at.size(64, 8), dim), [at.randn(2, 1, dim, scale=0.1) for _ in range(3)]
    fast = at.compile(net)

    @torch.no_grad()
    def call(model=net):
        return model(x, *mod)

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("compile", lambda: call(fast), says.COMPILE)], n=6, tolerance=0.1)
