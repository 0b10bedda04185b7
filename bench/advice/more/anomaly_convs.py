"""A small image-to-image network is trained with anomaly detection left on."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix


def build(at):
    wide = at.size(32, 4)
    layers = [nn.Conv2d(3, wide, 3, padding=1)]
    for _ in range(at.size(12, 2)):
        layers += [nn.Conv2d(wide, wide, 3, padding=1), nn.GroupNorm(4, wide), nn.SiLU()]
    net = nn.Sequential(*layers, nn.Conv2d(wide, 3, 3, padding=1)).to(at.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-7, fused=not at.cpu)
    x, y = (at.randn(4, 3, at.size(64, 8), at.size(64, 8), dtype=torch.float32) for _ in range(2))

    def step(anomaly):
        torch.autograd.set_detect_anomaly(anomaly, check_nan=True)
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        torch.autograd.set_detect_anomaly(False)
        return loss.detach()

    return Case("host", lambda: step(True), [Fix("off", lambda: step(False), r"(?i)anomaly")], n=3)
