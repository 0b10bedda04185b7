"""A small model answers requests while every allocation is recorded with its stack."""
import torch
from case import Case, Fix, Skip
from parts import blocks


def build(at):
    if at.cpu:
        raise Skip("memory history needs a GPU")
    model = blocks(16, 512, 8).to(at.device, torch.bfloat16).eval()
    x = at.randn(1, 64, 512)

    @torch.no_grad()
    def call(recorded):
        torch.cuda.memory._record_memory_history("all" if recorded else None, max_entries=50_000)
        for _ in range(4):
            y = model(x)
        return y

    return Case("host", lambda: call(True), [Fix("off", lambda: call(False), r"(?i)memory[ _]history")], n=3)
