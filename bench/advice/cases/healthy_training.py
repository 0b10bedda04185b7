"""Training as it should be: compiled, fused AdamW, the next batch uploaded from pinned memory meanwhile."""
import torch
from case import Case
from parts import blocks


def build(at):
    dim = at.size(1024, 32)
    model = blocks(at.size(8, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16)
    compiled = at.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    batch = torch.randn(16, at.size(1024, 8), dim).bfloat16()
    batch = batch if at.cpu else batch.pin_memory()
    side = None if at.cpu else torch.cuda.Stream()
    ready = [batch.to(at.device)]

    def prefetch():
        if side is None:
            return batch
        with torch.cuda.stream(side):
            return batch.to(at.device, non_blocking=True)

    def step():
        x = ready.pop()
        ready.append(prefetch())
        optimizer.zero_grad()
        compiled(x).square().mean().backward()
        optimizer.step()
        if side is not None:
            torch.cuda.current_stream().wait_stream(side)
            ready[0].record_stream(torch.cuda.current_stream())

    return Case("healthy", step, n=5)
