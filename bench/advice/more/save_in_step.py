"""A checkpoint is written to disk after every few steps, while the GPU waits."""
import tempfile
import threading
from pathlib import Path

import torch
from case import Case, Fix
from parts import blocks, regression


def build(at):
    dim = at.size(1024, 16)
    net = blocks(at.size(6, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16)
    x, y = at.randn(8, at.size(512, 8), dim), at.randn(8, at.size(512, 8), dim)
    step = regression(net, x, y, torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu))
    path = Path(tempfile.mkdtemp(prefix="advice_save_")) / "last.pt"
    room = {k: torch.empty(v.shape, dtype=v.dtype, pin_memory=not at.cpu)
            for k, v in net.state_dict().items()}
    writer = [None]

    def save_checkpoint():
        torch.save(net.state_dict(), path)

    def save_aside():
        if writer[0]:
            writer[0].join()
        for name, value in net.state_dict().items():
            room[name].copy_(value, non_blocking=True)
        done = None if at.cpu else torch.cuda.Event()
        if done:
            done.record()

        def write():
            if done:
                done.synchronize()
            torch.save(room, path)
        writer[0] = threading.Thread(target=write)
        writer[0].start()

    def call(save):
        for _ in range(12):
            step()
        save()

    return Case("host", lambda: call(save_checkpoint),
                [Fix("aside", lambda: call(save_aside), r"(?i)\bsave")],
                n=3, reps=1, seen_by=("full", "strata"))
