"""A ViT of transformers, flash attention, bf16, large batch."""
import torch
from case import Case
from transformers import ViTConfig, ViTModel


def build(at):
    torch.manual_seed(0)
    shape = at.size(dict(hidden_size=1024, num_hidden_layers=12, num_attention_heads=16,
                         intermediate_size=4096), dict(
        image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64))
    model = ViTModel(ViTConfig(**shape, attn_implementation="sdpa")).to(at.device, torch.bfloat16).eval()
    images = at.randn(at.size(256, 2), 3, model.config.image_size, model.config.image_size)

    @torch.no_grad()
    def classify():
        return model(images).last_hidden_state

    return Case("healthy", classify, n=4)
