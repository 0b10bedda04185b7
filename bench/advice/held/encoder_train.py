"""Training torch's own TransformerEncoder with small batches."""
import copy

import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import regression


def build(at):
    torch.manual_seed(0)
    dim = at.size(256, 16)
    layer = nn.TransformerEncoderLayer(dim, at.size(8, 2), 4 * dim, 0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, at.size(6, 2)).to(at.device)
    x, y = (at.randn(16, at.size(64, 8), dim, dtype=torch.float32) for _ in range(2))

    def trainer(net, body=None):
        return regression(net, x, y, torch.optim.AdamW(net.parameters(), lr=1e-4, fused=not at.cpu), body)

    twin = copy.deepcopy(model)
    return Case("launch", trainer(model), [Fix("compile", trainer(twin, at.compile(twin)), says.COMPILE)],
                n=6)
