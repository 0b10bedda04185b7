"""A video decoder's 3-D convolutions in torch's default layout."""
import copy

import says
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    channels, side, frames = at.size((96, 128, 8), (8, 8, 2))
    model = nn.Sequential(*[layer for _ in range(at.size(6, 1)) for layer in
                            (nn.Conv3d(channels, channels, 3, padding=1), nn.SiLU())])
    model = model.to(at.device, torch.bfloat16)
    last = copy.deepcopy(model).to(memory_format=torch.channels_last_3d)
    x = at.randn(1, channels, frames, side, side)
    xl = x.to(memory_format=torch.channels_last_3d)
    return Case("gpu", torch.no_grad()(lambda: model(x)),
                [Fix("channels_last", torch.no_grad()(lambda: last(xl)), says.CHANNELS_LAST)], n=4,
                tolerance=0.1)
