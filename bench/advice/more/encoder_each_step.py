"""The text encoder runs again in every denoising step, on the same prompt."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks

unforeseen = True


def build(at):
    dim, tokens = at.size((1024, 1024), (16, 8))
    encoder = blocks(at.size(12, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    denoiser = blocks(at.size(12, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    embed = nn.Embedding(1000, dim).to(at.device, torch.bfloat16)
    prompt = torch.randint(0, 1000, (4, at.size(512, 8)), device=at.device)
    start = at.randn(4, tokens, dim)

    @torch.no_grad()
    def sample(encode_once):
        x, text = start, encoder(embed(prompt)) if encode_once else None
        for _ in range(6):
            words = text if encode_once else encoder(embed(prompt))
            x = x - 0.05 * denoiser(torch.cat([words, x], 1))[:, words.shape[1]:]
        return x

    return Case("gpu", lambda: sample(False),
                [Fix("once", lambda: sample(True), r"(?i)encoder.{0,120}once|same input|before the loop")],
                n=2)
