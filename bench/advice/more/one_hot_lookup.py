"""Embeddings are looked up by a product with one-hot vectors."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from case import Case, Fix
from parts import blocks

unforeseen = True


def build(at):
    dim, vocab = at.size((1024, 32000), (16, 50))
    model = blocks(at.size(4, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    weight = nn.Embedding(vocab, dim).to(at.device, torch.bfloat16).weight
    ids = torch.randint(0, vocab, (8, at.size(512, 8)), device=at.device)

    @torch.no_grad()
    def call(look_up):
        return model(look_up())

    return Case("gpu", lambda: call(lambda: F.one_hot(ids, vocab).to(weight.dtype) @ weight),
                [Fix("embedding", lambda: call(lambda: F.embedding(ids, weight)),
                     r"(?i)one_hot|embedding")], n=4)
