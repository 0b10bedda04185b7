"""Text is split and looked up in Python between two calls of the model."""
import random
import re

import says
import torch
import torch.nn as nn
from case import Case, Fix
from parts import blocks

WORD = re.compile(r"\w+|[^\w\s]")


def tokenise(texts, vocabulary, length):
    rows = []
    for text in texts:
        ids = [vocabulary.setdefault(word.lower(), len(vocabulary) % 8000) for word in WORD.findall(text)]
        rows.append((ids + [0] * length)[:length])
    return torch.tensor(rows)


def build(at):
    dim, batch, length = at.size((768, 32, 256), (16, 2, 8))
    model = blocks(at.size(12, 2), dim, at.size(12, 2)).to(at.device, torch.bfloat16).eval()
    embedding = nn.Embedding(8000, dim).to(at.device, torch.bfloat16)
    draw = random.Random(0)
    texts = [" ".join(f"word{draw.randrange(5000)}," for _ in range(length)) for _ in range(batch)]
    vocabulary = {}

    @torch.no_grad()
    def call():
        ids = tokenise(texts, vocabulary, length)
        return model(embedding(ids.to(at.device)))

    ready = tokenise(texts, vocabulary, length)

    @torch.no_grad()
    def ahead():
        return model(embedding(ready.to(at.device)))

    return Case("host", call, [Fix("ahead", ahead, says.both("tokeni"))], n=6, n_full=4,
                seen_by=("full", "strata"))
