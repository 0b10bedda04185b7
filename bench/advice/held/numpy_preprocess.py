"""Pictures are normalised with NumPy on the host before every call."""
import numpy
import torch
from case import Case, Fix
from parts import resnet


def normalise(pictures):
    scaled = pictures.astype(numpy.float32) / 255
    mean, std = scaled.mean((1, 2), keepdims=True), scaled.std((1, 2), keepdims=True)
    return ((scaled - mean) / std).transpose(0, 3, 1, 2)


def build(at):
    side, batch = at.size((224, 32), (32, 2))
    pictures = numpy.random.randint(0, 255, (batch, side, side, 3), dtype=numpy.uint8)
    model = resnet(at.size((3, 4, 6, 3), (1, 1)), at.size(64, 8), 10).to(at.device, torch.bfloat16).eval()

    @torch.no_grad()
    def call():
        x = torch.from_numpy(numpy.ascontiguousarray(normalise(pictures)))
        return model(x.to(at.device, torch.bfloat16)).sum()

    @torch.no_grad()
    def on_device():
        x = torch.from_numpy(pictures).to(at.device).float() / 255
        x = (x - x.mean((1, 2), keepdim=True)) / x.std((1, 2), keepdim=True, unbiased=False)
        return model(x.permute(0, 3, 1, 2).bfloat16()).sum()

    return Case("host", call, [Fix("on_device", on_device, r"normalise|preprocess|_mean|_std|numpy")], n=5,
                tolerance=10, seen_by=("full", "strata"))
