"""A real diffusers pipeline with tiny random weights: nothing is downloaded, a call takes a moment."""
import json
import os
import string
import tempfile

import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

STEPS = 3


def _tokenizer():
    vocabulary = {"<|startoftext|>": 0, "<|endoftext|>": 1}
    for letter in string.ascii_lowercase:
        vocabulary[letter] = len(vocabulary)
        vocabulary[letter + "</w>"] = len(vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        words, merges = os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt")
        with open(words, "w", encoding="utf-8") as f:
            json.dump(vocabulary, f)
        with open(merges, "w", encoding="utf-8") as f:
            f.write("#version: 0.2\n")
        return CLIPTokenizer(words, merges, model_max_length=16)


def make():
    """The pipeline, the same one every time."""
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    unet = UNet2DConditionModel(
        block_out_channels=(4, 8), layers_per_block=1, sample_size=8, in_channels=4, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), cross_attention_dim=8,
        norm_num_groups=2, attention_head_dim=2)
    vae = AutoencoderKL(
        block_out_channels=[4, 8], in_channels=3, out_channels=3, latent_channels=4,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
        norm_num_groups=2)
    text_encoder = CLIPTextModel(CLIPTextConfig(
        hidden_size=8, intermediate_size=16, num_attention_heads=2, num_hidden_layers=2,
        vocab_size=len(tokenizer), max_position_embeddings=16, bos_token_id=0, eos_token_id=1))
    pipe = StableDiffusionPipeline(
        unet=unet.eval(), vae=vae.eval(), text_encoder=text_encoder.eval(), tokenizer=tokenizer,
        scheduler=DDIMScheduler(steps_offset=1, clip_sample=False), safety_checker=None,
        feature_extractor=None, image_encoder=None, requires_safety_checker=False)
    pipe.set_progress_bar_config(disable=True)
    return pipe


def call(pipe, seed=1):
    """One image, as an array."""
    return pipe("a cat", num_inference_steps=STEPS, height=16, width=16, output_type="np",
                generator=torch.Generator().manual_seed(seed)).images


if __name__ == "__main__":
    print(call(make()).shape)
