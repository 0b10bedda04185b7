"""Attention computed head by head."""
import says
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import Attention, blocks


class HeadByHead(Attention):
    def attend(self, q, k, v):
        heads = []
        for h in range(q.shape[1]):
            scores = F.softmax(q[:, h] @ k[:, h].transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
            heads.append(scores @ v[:, h])
        return torch.stack(heads, 1)


def build(at):
    dim, heads = at.size((1024, 16), (32, 2))
    torch.manual_seed(1)
    model = blocks(at.size(6, 2), dim, heads, HeadByHead).to(at.device, torch.bfloat16).eval()
    fused = blocks(at.size(6, 2), dim, heads).to(at.device, torch.bfloat16).eval()
    fused.load_state_dict(model.state_dict())
    x = at.randn(1, at.size(1024, 8), dim)
    call = torch.no_grad()(lambda: model(x))
    return Case("launch", call, [Fix("graph", at.lazily(lambda: at.graph(call)), says.GRAPH),
                                 Fix("sdpa", torch.no_grad()(lambda: fused(x)), says.FLASH)], n=4, n_full=2)
