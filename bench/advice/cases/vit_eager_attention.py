"""A ViT of transformers with attn_implementation="eager", as old code asks for."""
import says
import torch
from case import Case, Fix
from transformers import ViTConfig, ViTModel


def build(at):
    torch.manual_seed(0)
    shape = at.size(dict(image_size=512, patch_size=16), dict(
        image_size=32, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64))
    model = ViTModel(ViTConfig(**shape, attn_implementation="eager")).to(at.device, torch.bfloat16).eval()
    fast = ViTModel(ViTConfig(**shape, attn_implementation="sdpa")).to(at.device, torch.bfloat16).eval()
    fast.load_state_dict(model.state_dict())
    side = shape["image_size"]
    images = at.randn(at.size(32, 2), 3, side, side)

    @torch.no_grad()
    def classify():
        return model(images).last_hidden_state

    @torch.no_grad()
    def sdpa():
        return fast(images).last_hidden_state

    return Case("gpu", classify, [Fix("flash", sdpa, says.FLASH)], n=4)
