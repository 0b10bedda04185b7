"""Requests of ever new lengths go through attention of cuDNN, which builds a plan for each."""
import itertools

import torch
from case import Case, Fix, Skip
from parts import blocks
from torch.nn.attention import SDPBackend, sdpa_kernel


def build(at):
    if at.cpu:
        raise Skip("attention of cuDNN needs a GPU")
    model = blocks(4, 1024, 8).to(at.device, torch.bfloat16).eval()
    x = at.randn(1, 3000, 1024)

    def answers(backend):
        lengths = itertools.count(200)

        @torch.no_grad()
        def call():
            with sdpa_kernel(backend):
                return model(x[:, :next(lengths)])
        return call

    return Case("host", answers(SDPBackend.CUDNN_ATTENTION),
                [Fix("flash", answers(SDPBackend.FLASH_ATTENTION), r"(?i)cudnn")], n=4)
