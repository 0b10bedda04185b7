"""Every picture is compressed on the host before the next one is begun."""
import zlib
from concurrent.futures import ThreadPoolExecutor

import torch
from case import Case, Fix
from parts import blocks


def save(picture):
    return len(zlib.compress(picture.tobytes(), 6))


def build(at):
    dim = at.size(1024, 16)
    model = blocks(at.size(8, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(4, at.size(2048, 8), dim)
    pool, pending = ThreadPoolExecutor(8), []

    def picture():
        return (model(x)[0, :, :512].sigmoid() * 255).to(torch.uint8).cpu().numpy()

    @torch.no_grad()
    def call():
        return save(picture())

    @torch.no_grad()
    def aside():
        pending.append(pool.submit(save, picture()))
        return pending.pop(0).result() if len(pending) > 8 else 0

    return Case("host", call, [Fix("thread", aside, r"\bsave\b|compress|save_frames")], n=5,
                seen_by=("full", "strata"))
