"""Two request threads share a model behind a lock, and fetch their results inside it."""
import concurrent.futures
import threading

import says
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(512, 16)
    model = blocks(at.size(6, 2), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(16, at.size(1024, 8), dim)
    lock, pool = threading.Lock(), concurrent.futures.ThreadPoolExecutor(2)

    def prepare():
        return sum(i * i for i in range(at.size(60_000, 10)))

    @torch.no_grad()
    def guarded():
        with lock:
            y = model(x)[:, 0].float().cpu()
            prepare()
        return y

    @torch.no_grad()
    def narrow():
        with lock:
            y = model(x)[:, 0].float()
        prepare()
        return y.cpu()

    def serve(request):
        def unit():
            for done in [pool.submit(request) for _ in range(4)]:
                done.result()
        return unit

    return Case("host", serve(guarded), [Fix("narrow_lock", serve(narrow), says.LOCK)], n=5, n_full=3,
                seen_by=("strata",))
