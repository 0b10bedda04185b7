"""The SD VAE of diffusers, fp16, channels_last, compiled."""
import torch
from case import Case
from diffusers import AutoencoderKL


def build(at):
    wide = at.size((128, 256, 512, 512), (8, 8))
    with torch.device(at.device):
        vae = AutoencoderKL(block_out_channels=wide, down_block_types=("DownEncoderBlock2D",) * len(wide),
                            up_block_types=("UpDecoderBlock2D",) * len(wide), latent_channels=4,
                            layers_per_block=at.size(2, 1), norm_num_groups=at.size(32, 4)).eval()
    dtype = torch.bfloat16 if at.cpu else torch.float16
    vae = vae.to(dtype, memory_format=torch.channels_last)
    decode = at.compile(vae.decode)
    z = at.randn(at.size(4, 1), 4, at.size(96, 8), at.size(96, 8), dtype=dtype, scale=0.5)
    z = z.to(memory_format=torch.channels_last)
    return Case("healthy", torch.no_grad()(lambda: decode(z, return_dict=False)[0]), n=4)
