"""Pictures go to the host as floats and become bytes there, between two calls."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


def to_bytes(images):
    """What a pipeline's postprocessing does."""
    arrays = images.cpu().permute(0, 2, 3, 1).float().numpy()
    return [(array.clip(0, 1) * 255).round().astype("uint8") for array in arrays]


def build(at):
    side, batch = at.size((1024, 4), (16, 1))
    model = nn.Sequential(*[nn.Conv2d(c, d, 3, padding=1) for c, d in ((4, 64), (64, 64), (64, 3))])
    model = model.to(at.device, torch.bfloat16).to(memory_format=torch.channels_last)
    z = at.randn(batch, 4, side, side).to(memory_format=torch.channels_last)

    @torch.no_grad()
    def call():
        return len(to_bytes(model(z)))

    @torch.no_grad()
    def on_device():
        images = model(z).clamp(0, 1).mul(255).round().to(torch.uint8)
        return len(images.permute(0, 2, 3, 1).cpu().numpy())

    return Case("host", call, [Fix("on_device", on_device, says.both("to_bytes"))], n=5,
                seen_by=("full", "strata"))
