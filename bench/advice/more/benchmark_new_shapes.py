"""Pictures of ever new sizes with cudnn.benchmark on: each size is tried with all algorithms."""
import itertools

import torch
import torch.nn as nn
from case import Case, Fix

unforeseen = True


def build(at):
    wide = at.size(64, 4)
    model = nn.Sequential(*[layer for i in range(at.size(8, 2)) for layer in
                            (nn.Conv2d(3 if i == 0 else wide, wide, 3, padding=1), nn.ReLU())])
    model = model.to(at.device, torch.bfloat16).eval()
    picture = at.randn(1, 3, at.size(900, 200), at.size(512, 16))
    heights = itertools.count(at.size(300, 10))

    @torch.no_grad()
    def call(benchmark):
        torch.backends.cudnn.benchmark = benchmark
        y = model(picture[:, :, :next(heights) % picture.shape[2] + 8])
        torch.backends.cudnn.benchmark = False
        return y.float()[:, :, :4, :4]  # whose surroundings are the same in all sizes

    return Case("host", lambda: call(True),
                [Fix("off", lambda: call(False), r"(?i)cudnn\.?_?benchmark")], n=4)
