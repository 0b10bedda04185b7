"""A sampler draws its noise on the CPU in every step and uploads it, to be reproducible."""
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim, tokens = at.size((1024, 4096), (16, 8))
    model = blocks(at.size(4, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    start = at.randn(2, tokens, dim)
    on_cpu, on_gpu = torch.Generator().manual_seed(0), torch.Generator(at.device).manual_seed(0)

    def drawn_there():
        return torch.randn(start.shape, generator=on_cpu).to(at.device, torch.bfloat16)

    def drawn_here():
        return torch.randn(start.shape, generator=on_gpu, device=at.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def sample(draw):
        x = start
        for _ in range(at.size(8, 2)):
            x = x - 0.1 * model(x) + 0.01 * draw()
        return None if at.cpu else x.float().mean()

    words = r"(?i)aten::(randn|normal_)|\brandn\b|normal_|\bnoise|drawn_there|generator"
    return Case("host", lambda: sample(drawn_there), [Fix("on_gpu", lambda: sample(drawn_here), words)],
                n=2, tolerance=9)
