"""Four answers of a tiny language model."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=4,
                                     num_attention_heads=4, vocab_size=1000)).eval()
for _ in range(4):
    out = model.generate(torch.randint(0, 1000, (1, 32)), max_new_tokens=24, do_sample=False, pad_token_id=0,
                         eos_token_id=None)
print(out.shape)
