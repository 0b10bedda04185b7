"""Frames of a video are decoded one by one and turned into pictures on the CPU."""
import torch
from case import Case, Fix
from parts import decoder


def build(at):
    model = decoder(at.size(32, 4), at.size(2, 1)).to(at.device, torch.bfloat16).eval()
    z = at.randn(at.size(16, 2), 4, at.size(48, 4), at.size(48, 4))

    def to_pictures(video):
        return ((video.float() / 2 + 0.5).clamp(0, 1) * 255).round().to(torch.uint8).permute(0, 2, 3, 1)

    @torch.no_grad()
    def one_by_one():
        return torch.cat([to_pictures(model(frame[None]).cpu()) for frame in z])

    @torch.no_grad()
    def batched():
        return to_pictures(model(z)).cpu()

    @torch.no_grad()
    def converted_there():
        return torch.cat([to_pictures(model(frame[None])).cpu() for frame in z])

    return Case("host", one_by_one,
                [Fix("batch", batched, r"(?i)\bbatch"),
                 Fix("converted_there", converted_there,
                     r"(?i)to_pictures|on the GPU|convert.{0,60}(gpu|device)")], n=3, tolerance=0.1)
