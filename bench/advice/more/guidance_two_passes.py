"""A diffusion transformer is called twice per step, with the prompt and without, on small pictures."""
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


def build(at):
    dim, tokens = at.size((1536, 256), (16, 4))
    net = blocks(at.size(16, 2), dim, at.size(24, 2)).to(at.device, torch.bfloat16).eval()
    text = nn.Linear(at.size(768, 8), dim).to(at.device, torch.bfloat16)
    start, prompt = at.randn(1, tokens, dim), at.randn(1, 77, at.size(768, 8))
    empty = torch.zeros_like(prompt)

    def model(x, words):
        return net(torch.cat([text(words), x], 1))[:, words.shape[1]:]

    def guided(x):
        with_prompt, without = model(x, prompt), model(x, empty)
        return without + 5 * (with_prompt - without)

    def batched(x):
        both = model(x.expand(2, -1, -1), torch.cat([prompt, empty]))
        return both[1:] + 5 * (both[:1] - both[1:])

    @torch.no_grad()
    def sample(predict):
        x = start
        for _ in range(4):
            x = x - 0.05 * predict(x)
        return x

    return Case("launch", lambda: sample(guided),
                [Fix("batch", lambda: sample(batched), r"(?i)\bbatch(ed)?\b|guidance|one pass"),
                 Fix("graph", at.lazily(lambda: at.graph(lambda: sample(guided))), r"(?i)cuda[ _-]?graph")],
                n=2, tolerance=0.2)
