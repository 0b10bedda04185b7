"""Attention spelled out: two products and a softmax over a matrix that need not exist."""
import says
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import Attention, blocks


class ByHand(Attention):
    def attend(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        return F.softmax(scores, dim=-1) @ v


def build(at):
    dim, heads = at.size((1024, 16), (64, 4))
    torch.manual_seed(0)
    model = blocks(at.size(4, 2), dim, heads, ByHand).to(at.device, torch.bfloat16)
    fused = blocks(at.size(4, 2), dim, heads).to(at.device, torch.bfloat16)
    fused.load_state_dict(model.state_dict())
    x = at.randn(4, at.size(4096, 32), dim)

    @torch.no_grad()
    def call():
        return model(x)

    @torch.no_grad()
    def with_sdpa():
        return fused(x)

    return Case("gpu", call, [Fix("flash", with_sdpa, says.FLASH)], n=4)
