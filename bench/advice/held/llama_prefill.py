"""transformers' Llama reads a long prompt, eager."""
import says
import torch
from case import Case, Fix
from transformers import LlamaConfig, LlamaForCausalLM


def make(at):
    config = LlamaConfig(hidden_size=at.size(2048, 32), intermediate_size=at.size(5632, 64), vocab_size=2000,
                         num_hidden_layers=at.size(8, 2), num_attention_heads=at.size(32, 2),
                         num_key_value_heads=at.size(8, 2))
    model = LlamaForCausalLM(config).to(at.device, torch.bfloat16).eval()
    ids = torch.randint(0, 2000, (4, at.size(4096, 16)), device=at.device)
    return model, ids


def build(at):
    model, ids = make(at)
    fast = at.compile(model)

    @torch.no_grad()
    def call(net=model):
        return net(ids, use_cache=False).logits

    return Case("gpu", call, [Fix("compile", lambda: call(fast), says.COMPILE)], n=3, tolerance=0.2)
