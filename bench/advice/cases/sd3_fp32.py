"""Stable Diffusion 3's transformer (diffusers), loaded without torch_dtype: float32."""
import says
import torch
from case import Case, Fix
from diffusers import SD3Transformer2DModel


def build(at):
    torch.manual_seed(0)
    shape = at.size(dict(sample_size=64, num_layers=8, num_attention_heads=24, caption_projection_dim=1536),
                    dict(sample_size=8, num_layers=1, num_attention_heads=2, attention_head_dim=16,
                         caption_projection_dim=32, joint_attention_dim=32, pooled_projection_dim=32,
                         pos_embed_max_size=8))
    with torch.device(at.device):
        model = SD3Transformer2DModel(in_channels=16, out_channels=16, **shape).eval()
        half = SD3Transformer2DModel(in_channels=16, out_channels=16, **shape).eval()
    half.load_state_dict(model.state_dict())
    half = half.bfloat16()
    side, text, pooled = at.size((128, 4096, 2048), (8, 32, 32))
    x = at.randn(2, 16, side, side, dtype=torch.float32)
    words = at.randn(2, at.size(333, 8), text, dtype=torch.float32)
    pool, t = at.randn(2, pooled, dtype=torch.float32), torch.full((2,), 500.0, device=at.device)

    @torch.no_grad()
    def denoise():
        return model(x, words, pool, t, return_dict=False)[0]

    @torch.no_grad()
    def tf32():
        torch.set_float32_matmul_precision("high")
        try:
            return model(x, words, pool, t, return_dict=False)[0]
        finally:
            torch.set_float32_matmul_precision("highest")

    b, bw, bp = x.bfloat16(), words.bfloat16(), pool.bfloat16()

    @torch.no_grad()
    def bf16():
        return half(b, bw, bp, t, return_dict=False)[0]

    return Case("gpu", denoise, [Fix("tf32", tf32, says.TF32), Fix("bf16", bf16, says.BF16)], n=4,
                tolerance=0.1)
