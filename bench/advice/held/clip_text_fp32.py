"""The text encoder of a pipeline, left in float32."""
import copy

import says
import torch
from case import Case, Fix
from transformers import CLIPTextConfig, CLIPTextModel


def build(at):
    config = CLIPTextConfig(hidden_size=at.size(1280, 32), intermediate_size=at.size(5120, 64),
                            num_hidden_layers=at.size(16, 2), num_attention_heads=at.size(20, 2),
                            vocab_size=1000, eos_token_id=2)
    model = CLIPTextModel(config).to(at.device).eval()
    half = copy.deepcopy(model).bfloat16()
    ids = torch.randint(3, 1000, (at.size(64, 1), 77), device=at.device)

    @torch.no_grad()
    def call(net=model):
        return net(ids).last_hidden_state

    def tf32():
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            return call()
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False

    return Case("gpu", call, [Fix("tf32", tf32, says.TF32), Fix("bf16", lambda: call(half), says.BF16)],
                n=3, tolerance=0.2)
