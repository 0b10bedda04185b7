"""A small conditional UNet of diffusers, eager, one latent at a time."""
import says
import torch
from case import Case, Fix
from diffusers import UNet2DConditionModel


def build(at):
    torch.manual_seed(0)
    wide = at.size((128, 256), (8, 16))
    unet = UNet2DConditionModel(
        block_out_channels=wide, layers_per_block=1, cross_attention_dim=at.size(768, 16),
        attention_head_dim=at.size(8, 2), norm_num_groups=at.size(32, 4),
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D")).to(at.device, torch.bfloat16).eval()
    side = at.size(32, 8)
    latent, text = at.randn(1, 4, side, side), at.randn(1, 77, at.size(768, 16))
    t = torch.tensor([500.0], device=at.device)
    fast = at.compile(unet)

    @torch.no_grad()
    def call(net=unet):
        return net(latent, t, text, return_dict=False)[0]

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("compile", lambda: call(fast), says.COMPILE)], n=6, tolerance=0.2)
