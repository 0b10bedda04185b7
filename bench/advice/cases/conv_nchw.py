"""ResNet-50, bf16 inference, tensors in torch's default layout."""
import copy

import says
import torch
from case import Case, Fix
from parts import resnet


def build(at):
    torch.manual_seed(0)
    model = resnet(at.size((3, 4, 6, 3), (1, 1)), at.size(64, 8), at.size(1000, 10))
    model = model.to(at.device, torch.bfloat16).eval()
    last = copy.deepcopy(model).to(memory_format=torch.channels_last)
    x = at.randn(at.size(256, 2), 3, at.size(224, 32), at.size(224, 32))
    xl = x.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def classify():
        return model(x)

    @torch.no_grad()
    def channels_last():
        return last(xl)

    return Case("gpu", classify, [Fix("channels_last", channels_last, says.CHANNELS_LAST)], n=4,
                tolerance=0.2)
