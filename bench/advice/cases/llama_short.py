"""transformers' Llama reads short prompts: more launches than work."""
import says
import torch
from case import Case, Fix
from transformers import LlamaConfig, LlamaForCausalLM


def build(at):
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=at.size(1024, 32), intermediate_size=at.size(2816, 64), vocab_size=2000,
                         num_hidden_layers=at.size(12, 2), num_attention_heads=at.size(16, 2),
                         num_key_value_heads=at.size(4, 2))
    model = LlamaForCausalLM(config).to(at.device, torch.bfloat16).eval()
    ids = torch.randint(0, 2000, (4, at.size(32, 8)), device=at.device)
    fast = at.compile(model)

    @torch.no_grad()
    def call(net=model):
        return net(ids, use_cache=False).logits

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("compile", lambda: call(fast), says.COMPILE)], n=6, tolerance=0.2)
