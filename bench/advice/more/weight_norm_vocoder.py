"""A vocoder's residual convolutions keep their weight norm at inference."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm


class Stage(nn.Module):
    def __init__(self, channels, kernels):
        super().__init__()
        self.up = weight_norm(nn.ConvTranspose1d(2 * channels, channels, 4, 2, 1))
        self.rows = nn.ModuleList(
            nn.ModuleList(weight_norm(nn.Conv1d(channels, channels, k, padding=d * (k - 1) // 2, dilation=d))
                          for d in (1, 3, 5)) for k in kernels)

    def forward(self, x):
        x = self.up(F.leaky_relu(x, 0.1))
        total = 0
        for row in self.rows:
            y = x
            for conv in row:
                y = y + conv(F.leaky_relu(y, 0.1))
            total = total + y
        return total / len(self.rows)


def build(at):
    wide = at.size(512, 8)

    def vocoder():
        stages = [Stage(wide >> i, (3, 7, 11)) for i in range(at.size(4, 1))]
        return nn.Sequential(*stages).to(at.device, torch.bfloat16).eval()

    model, folded = vocoder(), vocoder()
    folded.load_state_dict(model.state_dict())
    for module in folded.modules():
        if isinstance(module, nn.Conv1d | nn.ConvTranspose1d):
            parametrize.remove_parametrizations(module, "weight")
    x = at.randn(1, 2 * wide, at.size(256, 8))
    return Case("launch", torch.no_grad()(lambda: model(x)),
                [Fix("folded", torch.no_grad()(lambda: folded(x)), r"(?i)weight.?norm")], n=5, tolerance=0.1)
