"""Convolutions in NCHW order and half precision."""
import torch

big = torch.cuda.is_available()
c, size = (256, 64) if big else (8, 8)
torch.manual_seed(0)


def block():
    return torch.nn.Sequential(torch.nn.Conv2d(c, c, 3, padding=1), torch.nn.GroupNorm(8, c), torch.nn.SiLU())


net = torch.nn.Sequential(*[block() for _ in range(8)]).eval()
x = torch.randn(8, c, size, size)
if big:
    net, x = net.cuda().half(), x.cuda().half()
with torch.no_grad():
    for _ in range(1000):
        y = net(x)
print("sum", float(y.float().sum()))
