"""A compiled ViT of transformers whose attention the compiler took apart: products in float32, a softmax."""
import says
import torch
from case import Case, Fix
from transformers import ViTConfig, ViTModel


def build(at):
    torch.manual_seed(0)
    shape = at.size(dict(hidden_size=1024, num_hidden_layers=12, num_attention_heads=16,
                         intermediate_size=4096), dict(
        image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64))
    model = ViTModel(ViTConfig(**shape, attn_implementation="sdpa")).to(at.device, torch.bfloat16).eval()
    compiled = at.compile(model)
    images = at.randn(at.size(256, 2), 3, model.config.image_size, model.config.image_size)

    @torch.no_grad()
    def classify():
        return compiled(images).last_hidden_state

    @torch.no_grad()
    def eager():
        return model(images).last_hidden_state

    return Case("gpu", classify, [Fix("flash", eager, says.FLASH)], n=4, tolerance=0.1)
