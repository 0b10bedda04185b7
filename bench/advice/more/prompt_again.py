"""Eight answers to one prompt: the prompt is read again for each of them."""
import torch
from case import Case, Fix
from transformers import LlamaConfig, LlamaForCausalLM

unforeseen = True


def build(at):
    dim, layers, tokens = at.size((1024, 8, 4), (16, 2, 2))
    config = LlamaConfig(hidden_size=dim, intermediate_size=3 * dim, num_hidden_layers=layers,
                         num_attention_heads=at.size(16, 2), vocab_size=at.size(8192, 64))
    with torch.device(at.device):
        model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
    model.generation_config.pad_token_id = 0
    model.generation_config.eos_token_id = None
    ids = torch.randint(0, config.vocab_size, (1, at.size(8192, 8)), device=at.device)
    answers = at.size(8, 2)

    def generate(ids):
        return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens,
                              min_new_tokens=tokens, do_sample=True)

    @torch.no_grad()
    def again():
        return torch.cat([generate(ids) for _ in range(answers)])[:, :8].float()

    @torch.no_grad()
    def shared():
        out = model(ids, use_cache=True, logits_to_keep=1)
        cache, chosen = out.past_key_values, [ids.expand(answers, -1)]
        cache.batch_repeat_interleave(answers)
        logits = out.logits[:, -1].expand(answers, -1)
        for i in range(tokens):
            chosen.append(torch.multinomial(logits.float().softmax(-1), 1))
            if i + 1 < tokens:
                logits = model(chosen[-1], past_key_values=cache, use_cache=True).logits[:, -1]
        return torch.cat(chosen, 1)[:, :8].float()

    return Case("gpu", again,
                [Fix("shared", shared, r"(?i)prefill|same prompt|prompt.{0,60}(once|again)")], n=1, reps=1)
