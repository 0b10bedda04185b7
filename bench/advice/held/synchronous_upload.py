"""Batches lie in pinned memory, but the program waits for every upload."""
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(1024, 16)
    model = blocks(at.size(6, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    batch = torch.randn(at.size(48, 2), 512 if not at.small else 4, dim).bfloat16()
    batch = batch if at.cpu else batch.pin_memory()
    side = None if at.cpu else torch.cuda.Stream()
    ready = [batch.to(at.device)]

    @torch.no_grad()
    def call():
        return model(batch.to(at.device)).sum()

    @torch.no_grad()
    def ahead():
        x = ready.pop()
        if side is None:
            ready.append(batch)
            return model(x).sum()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            ready.append(batch.to(at.device, non_blocking=True))
        out = model(x).sum()
        torch.cuda.current_stream().wait_stream(side)
        return out

    words = r"(?i)exposed_copy|non_blocking|prefetch|overlap|stream"
    return Case("transfer", call, [Fix("prefetch", ahead, words)], n=5, tolerance=10)
