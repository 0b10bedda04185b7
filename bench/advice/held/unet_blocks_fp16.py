"""GroupNorm, SiLU and convolutions of a UNet in fp16, channels_last already, with unfused chains between."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


class Res(nn.Module):
    def __init__(self, channels, groups):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(groups, channels), nn.GroupNorm(groups, channels)
        self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))

    def forward(self, x, shift):
        y = self.conv1(torch.nn.functional.silu(self.norm1(x)))
        y = y * (1 + shift) + shift
        return x + self.conv2(torch.nn.functional.silu(self.norm2(y)))


class Net(nn.Module):
    def __init__(self, n, channels, groups):
        super().__init__()
        self.blocks = nn.ModuleList(Res(channels, groups) for _ in range(n))

    def forward(self, x, shift):
        for block in self.blocks:
            x = block(x, shift)
        return x


def build(at):
    channels, side = at.size((128, 256), (8, 8))
    dtype = torch.bfloat16 if at.cpu else torch.float16
    net = Net(at.size(6, 1), channels, at.size(32, 4)).to(at.device, dtype)
    net = net.to(memory_format=torch.channels_last)
    x = at.randn(8, channels, side, side, dtype=dtype).to(memory_format=torch.channels_last)
    shift = at.randn(8, channels, 1, 1, dtype=dtype, scale=0.1)
    fast = at.compile(net)
    return Case("gpu", torch.no_grad()(lambda: net(x, shift)),
                [Fix("compile", torch.no_grad()(lambda: fast(x, shift)), says.COMPILE)], n=5)
