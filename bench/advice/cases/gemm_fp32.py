"""A network left in float32 with torch's defaults."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    dim = at.size(4096, 64)
    model = nn.Sequential(*[nn.Linear(dim, dim) for _ in range(6)]).to(at.device)
    half = nn.Sequential(*[nn.Linear(dim, dim) for _ in range(6)]).to(at.device, torch.bfloat16)
    half.load_state_dict(model.state_dict())
    x = at.randn(dim, dim, dtype=torch.float32)

    @torch.no_grad()
    def call():
        return model(x)

    @torch.no_grad()
    def tf32():
        torch.set_float32_matmul_precision("high")
        try:
            return model(x)
        finally:
            torch.set_float32_matmul_precision("highest")

    @torch.no_grad()
    def bf16():
        return half(x.bfloat16())

    return Case("gpu", call, [Fix("tf32", tf32, says.TF32), Fix("bf16", bf16, says.BF16)], n=4)
