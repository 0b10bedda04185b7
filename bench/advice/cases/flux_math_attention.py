"""A Flux-like transformer of diffusers whose attention was switched to the math path for debugging."""
import says
import torch
from case import Case, Fix
from diffusers import FluxTransformer2DModel
from torch.nn.attention import SDPBackend, sdpa_kernel


def build(at):
    tokens, text = at.size((4096, 512), (16, 8))
    heads, wide = at.size((24, 128), (2, 16))
    axes = at.size((16, 56, 56), (4, 6, 6))
    torch.manual_seed(0)
    with torch.device(at.device):
        model = FluxTransformer2DModel(
            num_layers=at.size(2, 1), num_single_layers=at.size(4, 1), attention_head_dim=wide,
            num_attention_heads=heads, joint_attention_dim=at.size(4096, 32), axes_dims_rope=axes,
            pooled_projection_dim=at.size(768, 32), guidance_embeds=False)
    model = model.to(torch.bfloat16).eval()
    inputs = dict(
        hidden_states=at.randn(1, tokens, 64), encoder_hidden_states=at.randn(1, text, at.size(4096, 32)),
        pooled_projections=at.randn(1, at.size(768, 32)), timestep=torch.full((1,), 0.5, device=at.device),
        img_ids=torch.zeros(tokens, 3, device=at.device), txt_ids=torch.zeros(text, 3, device=at.device),
        return_dict=False)

    @torch.no_grad()
    def denoise():
        with sdpa_kernel(SDPBackend.MATH):
            return model(**inputs)[0]

    @torch.no_grad()
    def fused():
        return model(**inputs)[0]

    return Case("gpu", denoise, [Fix("flash", fused, says.FLASH)], n=4, tolerance=0.1)
