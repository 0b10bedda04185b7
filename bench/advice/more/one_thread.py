"""Pictures are resized on the CPU by one thread of torch before every step."""
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import blocks

unforeseen = True


def build(at):
    dim, side = at.size((768, 224), (48, 16))
    model = blocks(at.size(4, 1), dim, at.size(12, 2)).to(at.device, torch.bfloat16).eval()
    pictures = torch.rand(16, 3, 2 * side, 2 * side)
    patch = at.size(16, 4)

    def resize_on_cpu(threads):
        torch.set_num_threads(threads)
        small = F.interpolate(pictures, (side, side), mode="bicubic", antialias=True)
        torch.set_num_threads(1)
        return small.to(at.device, torch.bfloat16)

    def resize_there():
        large = pictures.to(at.device)
        return F.interpolate(large, (side, side), mode="bicubic", antialias=True).to(torch.bfloat16)

    @torch.no_grad()
    def call(resized):
        patches = F.unfold(resized().float(), patch, stride=patch).mT.to(torch.bfloat16)
        return model(patches)

    return Case("host", lambda: call(lambda: resize_on_cpu(1)),
                [Fix("threads", lambda: call(lambda: resize_on_cpu(8)), r"(?i)threads"),
                 Fix("on_gpu", lambda: call(resize_there), r"(?i)resize_on_cpu|interpol|upsample|on the GPU")
                 ], n=4, tolerance=0.2)
