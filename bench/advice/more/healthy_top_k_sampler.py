"""Large products decode a batch; tokens are sampled from the best fifty, sorted among themselves."""
import torch
import torch.nn as nn
from case import Case


def build(at):
    dim, vocab = at.size((8192, 32768), (16, 100))
    layers = nn.Sequential(*[nn.Linear(dim, dim, bias=False) for _ in range(at.size(16, 2))],
                           nn.Linear(dim, vocab, bias=False)).to(at.device, torch.bfloat16)
    x = at.randn(at.size(64, 2), dim)

    @torch.no_grad()
    def token():
        best = layers(x).topk(50)
        probabilities = best.values.float().softmax(-1)
        ordered, indices = probabilities.sort(descending=True)
        kept = ordered.masked_fill(ordered.cumsum(-1) - ordered > 0.9, 0)
        return best.indices.gather(1, indices.gather(1, kept.argmax(-1, keepdim=True)))

    return Case("healthy", at.graph(token), n=10)
