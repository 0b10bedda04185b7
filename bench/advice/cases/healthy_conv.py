"""A ResNet-50 in bf16, channels_last, cudnn.benchmark, compiled, large batch."""
import torch
from case import Case
from parts import resnet


def build(at):
    torch.backends.cudnn.benchmark = True
    model = resnet(at.size((3, 4, 6, 3), (1, 1)), at.size(64, 8), at.size(1000, 10))
    model = model.to(at.device, torch.bfloat16).to(memory_format=torch.channels_last).eval()
    compiled = at.compile(model)
    x = at.randn(at.size(512, 2), 3, at.size(224, 32), at.size(224, 32))
    x = x.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def classify():
        return compiled(x)

    return Case("healthy", classify, n=4)
