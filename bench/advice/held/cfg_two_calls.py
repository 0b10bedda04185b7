"""A diffusers UNet called twice per step, with and without the prompt, on small pictures."""
import says
import torch
from case import Case, Fix
from diffusers import UNet2DConditionModel


def build(at):
    wide = at.size((192, 384), (8, 8))
    unet = UNet2DConditionModel(
        sample_size=32, block_out_channels=wide, layers_per_block=at.size(2, 1),
        cross_attention_dim=at.size(512, 8),
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), norm_num_groups=at.size(32, 4),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), attention_head_dim=at.size(8, 2))
    unet = unet.to(at.device, torch.bfloat16).eval()
    start = at.randn(1, 4, 32, 32)
    prompts = [at.randn(1, 77, at.size(512, 8)) for _ in range(2)]
    times = torch.arange(4, device=at.device)

    def one(x, t):
        with_prompt, without = (unet(x, t, p, return_dict=False)[0] for p in prompts)
        return x - 0.1 * (without + 7.5 * (with_prompt - without))

    @torch.no_grad()
    def call():
        x = start
        for t in times:
            x = one(x, t)
        return x

    def make():
        with torch.no_grad():
            step = at.graph(one, start.clone(), times[0].clone())

        @torch.no_grad()
        def graphed():
            x = start
            for t in times:
                x = step(x, t).clone()
            return x
        return graphed

    return Case("launch", call, [Fix("graph", at.lazily(make), says.GRAPH)], n=3, n_full=1, tolerance=0.2)
