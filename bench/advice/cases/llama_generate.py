"""transformers' generate with a Llama of random weights, eight prompts at once."""
import says
import torch
from case import Case, Fix
from transformers import LlamaConfig, LlamaForCausalLM


def build(at):
    torch.manual_seed(0)
    shape = at.size(dict(hidden_size=2048, intermediate_size=5632, num_hidden_layers=8,
                         num_attention_heads=16, num_key_value_heads=4, vocab_size=32000),
                    dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=2, num_key_value_heads=1, vocab_size=100))
    with torch.device(at.device):
        model = LlamaForCausalLM(LlamaConfig(**shape)).bfloat16().eval()
    ids = torch.randint(0, 100, at.size((8, 256), (2, 8)), device=at.device)
    tokens = at.size(24, 4)
    same = dict(max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False, pad_token_id=0)

    @torch.no_grad()
    def answer():
        model.generate(ids, **same)

    @torch.no_grad()
    def static():
        model.generate(ids, cache_implementation="static", **same)

    return Case("launch", answer, [Fix("static_cache_graph", static, says.GRAPH)], n=3, n_full=1)
