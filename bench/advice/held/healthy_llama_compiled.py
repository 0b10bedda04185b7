"""transformers' Llama reads a long prompt, compiled."""
import torch
from case import Case
from llama_prefill import make


def build(at):
    model, ids = make(at)
    fast = at.compile(model)
    return Case("healthy", torch.no_grad()(lambda: fast(ids, use_cache=False).logits), n=3)
