"""A buffer of zeros of which every byte is overwritten at once."""
import says
import torch
from case import Case, Fix


def build(at):
    frames = [at.randn(at.size(1 << 26, 64)) for _ in range(4)]
    size = frames[0].numel()

    def gather():
        out = torch.zeros(4 * size, device=at.device, dtype=torch.bfloat16)
        for i, frame in enumerate(frames):
            out[i * size:(i + 1) * size] = frame
        return out

    def empty():
        out = torch.empty(4 * size, device=at.device, dtype=torch.bfloat16)
        for i, frame in enumerate(frames):
            out[i * size:(i + 1) * size] = frame
        return out

    return Case("gpu", gather, [Fix("empty", empty, says.NO_FILL)], n=6)
