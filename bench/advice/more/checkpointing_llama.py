"""A Llama of transformers is fine-tuned with gradient checkpointing on an almost empty GPU."""
import copy

import torch
from case import Case, Fix
from transformers import LlamaConfig, LlamaForCausalLM


def build(at):
    dim, layers = at.size((1024, 8), (16, 2))
    config = LlamaConfig(hidden_size=dim, intermediate_size=3 * dim, num_hidden_layers=layers,
                         num_attention_heads=at.size(16, 2), vocab_size=at.size(8192, 64), use_cache=False)
    with torch.device(at.device):
        kept = LlamaForCausalLM(config).to(torch.bfloat16).train()
    model = copy.deepcopy(kept)
    model.gradient_checkpointing_enable()
    ids = torch.randint(0, config.vocab_size, (at.size(8, 2), at.size(1024, 8)), device=at.device)

    def training(model):
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-7, fused=not at.cpu)

        def step():
            optimizer.zero_grad()
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            optimizer.step()
            return loss.detach()
        return step

    return Case("gpu", training(model), [Fix("kept", training(kept), r"(?i)checkpoint")], n=3)
