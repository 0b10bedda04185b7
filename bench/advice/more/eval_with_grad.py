"""A model is evaluated without no_grad: autograd writes down every operator for nothing."""
import torch
from case import Case, Fix
from parts import blocks

unforeseen = True


def build(at):
    dim = at.size(512, 16)
    model = blocks(at.size(16, 2), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(2, at.size(128, 8), dim)

    def call(grad):
        with torch.set_grad_enabled(grad):
            return model(x).detach()

    return Case("launch", lambda: call(True),
                [Fix("no_grad", lambda: call(False), r"(?i)no_grad|inference_mode"),
                 Fix("graph", at.lazily(lambda: at.graph(lambda: call(False))), r"(?i)cuda[ _-]?graph")], n=6)
