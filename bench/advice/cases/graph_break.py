"""A compiled function that looks at a value in its middle: it is cut there, and waits."""
import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import MLP


class Guarded(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.layers = nn.ModuleList([MLP(dim) for _ in range(layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.abs().max().item() > 1e4:
                print("large activations")
        return x


class Plain(Guarded):
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def build(at):
    dim, layers = at.size((768, 6), (16, 2))
    model = Guarded(dim, layers).to(at.device, torch.bfloat16)
    plain = Plain(dim, layers).to(at.device, torch.bfloat16)
    plain.load_state_dict(model.state_dict())
    x = at.randn(at.size(1024, 8), dim)
    cut, whole = at.compile(model), at.compile(plain)

    @torch.no_grad()
    def call():
        return cut(x)

    @torch.no_grad()
    def unbroken():
        return whole(x)

    return Case("host", call, [Fix("no_break", unbroken, says.GRAPH_BREAK)], n=8)
