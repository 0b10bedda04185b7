"""A server starts a thread for every request; cuBLAS and cuDNN make their handles in each."""
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim = at.size(512, 16)
    model = blocks(at.size(6, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(4, at.size(256, 8), dim)
    pool, answers = ThreadPoolExecutor(1), []

    @torch.inference_mode()
    def handle_request():
        answers[:] = [model(x).float().cpu()]

    def threaded():
        for _ in range(4):
            thread = threading.Thread(target=handle_request)
            thread.start()
            thread.join()
        return answers[0]

    def pooled():
        for _ in range(4):
            pool.submit(handle_request).result()
        return answers[0]

    return Case("host", threaded, [Fix("pool", pooled, r"(?i)\bthread")], n=3)
