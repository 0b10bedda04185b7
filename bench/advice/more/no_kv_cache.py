"""A model of transformers generates with use_cache=False, as training left it."""
import torch
from case import Case, Fix
from transformers import LlamaConfig, LlamaForCausalLM


def build(at):
    dim, layers, tokens = at.size((1024, 8, 24), (16, 2, 3))
    config = LlamaConfig(hidden_size=dim, intermediate_size=3 * dim, num_hidden_layers=layers,
                         num_attention_heads=at.size(16, 2), vocab_size=at.size(8192, 64))
    with torch.device(at.device):
        model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
    model.generation_config.pad_token_id = 0
    model.generation_config.eos_token_id = None
    ids = torch.randint(0, config.vocab_size, (at.size(8, 2), at.size(1024, 8)), device=at.device)

    @torch.no_grad()
    def call(cached):
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens,
                             min_new_tokens=tokens, do_sample=False, use_cache=cached)
        return out[:, :ids.shape[1]].float()

    return Case("gpu", lambda: call(False),
                [Fix("cache", lambda: call(True), r"(?i)use_cache|kv.?cache|past_key_values")], n=1, reps=1)
