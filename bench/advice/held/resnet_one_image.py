"""A ResNet-50 in fp16 looks at one small image at a time."""
import says
import torch
from case import Case, Fix
from parts import resnet


def build(at):
    torch.manual_seed(0)
    dtype = torch.bfloat16 if at.cpu else torch.float16
    net = resnet(at.size((3, 4, 6, 3), (1, 1)), at.size(64, 4)).to(at.device, dtype).eval()
    image = at.randn(1, 3, at.size(160, 32), at.size(160, 32), dtype=dtype)
    fast = at.compile(net)

    @torch.no_grad()
    def call(model=net):
        return model(image)

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("compile", lambda: call(fast), says.COMPILE)], n=6, tolerance=0.2)
