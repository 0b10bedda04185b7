"""Three images of a diffusers pipeline with tiny random weights."""
import torch

from tiny_pipeline import make


def load():
    return make()


def main():
    pipe = load()
    for seed in range(3):
        image = pipe("a cat", num_inference_steps=8, height=16, width=16, output_type="np",
                     generator=torch.Generator().manual_seed(seed)).images
    print(image.shape)


if __name__ == "__main__":
    main()
