"""Modules that several cases are made of, written as people write them."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, dim, wide=4):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, wide * dim)
        self.down = nn.Linear(wide * dim, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = self.attend(q, k, v)
        return x + self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads, attention=Attention):
        super().__init__()
        self.attention = attention(dim, heads)
        self.mlp = MLP(dim)

    def forward(self, x):
        return self.mlp(self.attention(x))


def blocks(n, dim, heads, attention=Attention):
    return nn.Sequential(*[Block(dim, heads, attention) for _ in range(n)])


class Residual(nn.Module):
    """A ResNet's bottleneck."""

    def __init__(self, channels, narrow, out, stride=1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, narrow, 1, bias=False), nn.BatchNorm2d(narrow), nn.ReLU(inplace=True),
            nn.Conv2d(narrow, narrow, 3, stride, 1, bias=False), nn.BatchNorm2d(narrow),
            nn.ReLU(inplace=True), nn.Conv2d(narrow, out, 1, bias=False), nn.BatchNorm2d(out))
        self.skip = nn.Identity() if channels == out and stride == 1 else nn.Sequential(
            nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


def resnet(counts=(3, 4, 6, 3), width=64, classes=1000):
    """ResNet-50 with these counts and width."""
    layers = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
              nn.MaxPool2d(3, 2, 1)]
    channels = width
    for i, count in enumerate(counts):
        narrow = width << i
        for j in range(count):
            layers.append(Residual(channels, narrow, 4 * narrow, 2 if i and not j else 1))
            channels = 4 * narrow
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def decoder(wide, depth):
    """Latents of 4 channels to a picture of four times their width."""
    layers = [nn.Conv2d(4, wide, 3, padding=1)]
    for _ in range(2):
        for _ in range(depth):
            layers += [nn.GroupNorm(4, wide), nn.SiLU(), nn.Conv2d(wide, wide, 3, padding=1)]
        layers += [nn.Upsample(scale_factor=2), nn.Conv2d(wide, wide, 3, padding=1)]
    return nn.Sequential(*layers, nn.Conv2d(wide, 3, 3, padding=1))


def regression(net, x, y, optimizer, body=None):
    """A step of training towards y; body is what is called, if that is not net."""
    body = net if body is None else body

    def step():
        optimizer.zero_grad()
        F.mse_loss(body(x), y).backward()
        optimizer.step()
    return step


def quiet(step):
    """step without gradients."""
    return torch.no_grad()(step)
