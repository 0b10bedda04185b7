"""The SD VAE of diffusers, decoding fp16 latents in torch's default layout."""
import says
import torch
from case import Case, Fix
from diffusers import AutoencoderKL


def build(at):
    torch.manual_seed(0)
    wide = at.size((128, 256, 512, 512), (8, 8))
    with torch.device(at.device):
        vae = AutoencoderKL(block_out_channels=wide, down_block_types=("DownEncoderBlock2D",) * len(wide),
                            up_block_types=("UpDecoderBlock2D",) * len(wide), latent_channels=4,
                            layers_per_block=at.size(2, 1), norm_num_groups=at.size(32, 4)).eval()
        last = AutoencoderKL.from_config(vae.config).eval()
    last.load_state_dict(vae.state_dict())
    dtype = torch.bfloat16 if at.cpu else torch.float16
    vae, last = vae.to(dtype), last.to(dtype, memory_format=torch.channels_last)
    z = at.randn(at.size(4, 1), 4, at.size(96, 8), at.size(96, 8), dtype=dtype, scale=0.5)
    zl = z.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def decode():
        return vae.decode(z, return_dict=False)[0]

    @torch.no_grad()
    def channels_last():
        return last.decode(zl, return_dict=False)[0]

    return Case("gpu", decode, [Fix("channels_last", channels_last, says.CHANNELS_LAST)], n=4,
                tolerance=0.1)
