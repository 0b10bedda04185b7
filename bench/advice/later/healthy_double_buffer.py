"""Batches are uploaded from pinned memory on a stream of their own, one ahead."""
import torch
from case import Case
from parts import blocks


def build(at):
    dim = at.size(2048, 16)
    model = blocks(at.size(4, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    batches = [torch.randn(8, at.size(1024, 8), dim, dtype=torch.bfloat16) for _ in range(4)]
    if at.cpu:
        return Case("healthy", torch.no_grad()(lambda: model(batches[0])), n=2)
    batches = [batch.pin_memory() for batch in batches]
    side, ahead = torch.cuda.Stream(), []

    def upload(batch):
        with torch.cuda.stream(side):
            ahead.append(batch.to("cuda", non_blocking=True))

    @torch.no_grad()
    def epoch():
        upload(batches[0])
        for i in range(12):
            torch.cuda.current_stream().wait_stream(side)
            x = ahead.pop()
            x.record_stream(torch.cuda.current_stream())
            upload(batches[(i + 1) % 4])
            model(x)
        ahead.clear()

    return Case("healthy", epoch, n=2)
