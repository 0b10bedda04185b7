"""Tokens are sampled on the host: the logits of every step go there."""
import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks


def build(at):
    dim, vocab, tokens = at.size((1024, 128000, 12), (16, 50, 2))
    model = blocks(at.size(4, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    head = nn.Linear(dim, vocab, bias=False).to(at.device, torch.bfloat16)
    embed = nn.Embedding(vocab, dim).to(at.device, torch.bfloat16)
    start = at.randn(at.size(32, 2), 16, dim)

    def decode(pick):
        x = start
        for _ in range(tokens):
            token = pick(head(model(x)[:, -1]))
            x = torch.cat([x[:, 1:], embed(token)[:, None]], 1)
        return x

    def on_host(logits):
        return torch.from_numpy(logits.float().cpu().numpy().argmax(-1)).to(at.device)

    words = says.NO_SYNC + r"|on_host|pageable|copies?"
    return Case("host", torch.no_grad()(lambda: decode(on_host)),
                [Fix("on_device", torch.no_grad()(lambda: decode(lambda logits: logits.argmax(-1))), words)],
                n=2, n_full=1)
