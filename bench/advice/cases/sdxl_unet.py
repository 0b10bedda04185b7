"""The SDXL UNet of diffusers, eager, one image with guidance at 512x512."""
import says
import torch
from case import Case, Fix
from diffusers import UNet2DConditionModel

SDXL = dict(
    sample_size=64, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
    up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"), layers_per_block=2,
    block_out_channels=(320, 640, 1280), cross_attention_dim=2048, attention_head_dim=(5, 10, 20),
    use_linear_projection=True, transformer_layers_per_block=(1, 2, 10),
    addition_embed_type="text_time", addition_time_embed_dim=256,
    projection_class_embeddings_input_dim=2816)
TINY = {**SDXL, "block_out_channels": (8, 16, 16), "cross_attention_dim": 16, "norm_num_groups": 4,
        "attention_head_dim": (2, 2, 2), "transformer_layers_per_block": 1,
        "addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 16 + 6 * 8}


def build(at):
    torch.manual_seed(0)
    with torch.device(at.device):
        torch.set_default_dtype(torch.bfloat16)
        unet = UNet2DConditionModel(**at.size(SDXL, TINY)).eval()
        torch.set_default_dtype(torch.float32)
    side, words, pooled = at.size((64, 2048, 1280), (8, 16, 16))
    start = at.randn(1, 4, side, side)
    text = at.randn(2, 77, words)
    more = {"text_embeds": at.randn(2, pooled), "time_ids": torch.ones(2, 6, device=at.device)}
    t = torch.tensor([500.0], device=at.device)

    def predict(sample):
        return unet(sample, t, text, added_cond_kwargs=more, return_dict=False)[0]

    @torch.no_grad()
    def denoise(model=predict):
        free, guided = model(torch.cat([start, start])).chunk(2)
        return start - 0.1 * (free + 5 * (guided - free))

    def make():
        with torch.no_grad():
            graph = at.graph(predict, torch.cat([start, start]))
        return lambda: denoise(graph)

    return Case("launch", denoise, [Fix("graph", at.lazily(make), says.GRAPH)], n=4, n_full=2)
