"""A text-to-image pipeline in miniature, with its stages marked: encode, denoise in a loop, decode.

    strata run -- python3 examples/pipeline.py

It needs nothing but Python; the numbers it computes mean nothing. One thing is wrong with it, and
the table at the end shows which: the scheduler prepares the same table again in every step.
"""
import math
import sys

import strata


class Pipeline:
    def __init__(self, steps, size):
        self.steps = steps
        self.size = size

    @strata.stage("encode_prompt")
    def encode_prompt(self, text):
        return [math.sin(ord(c)) for c in text] * 8

    @strata.stage("transformer_forward")
    def transformer(self, latents, prompt, step):
        bias = sum(prompt) / len(prompt) + step
        return [math.tanh(x * 0.9 + bias * 0.01) for x in latents]

    @strata.stage("scheduler_step")
    def scheduler_step(self, noise, latents, step):
        sigmas = [math.exp(-i / 500) for i in range(20000)]  # the same in every step
        return [x - n * sigmas[step] for x, n in zip(latents, noise)]

    @strata.stage("vae_decode")
    def decode(self, latents):
        return bytes(int(abs(x) * 255) & 255 for x in latents for _ in range(3))

    def __call__(self, text):
        prompt = self.encode_prompt(text)
        latents = [math.cos(i) for i in range(self.size)]
        with strata.stage("denoise"):
            for step in range(self.steps):
                noise = self.transformer(latents, prompt, step)
                latents = self.scheduler_step(noise, latents, step)
        return self.decode(latents)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    image = Pipeline(steps, 64 * 64)("a photograph of a glacier, layer upon layer")
    print(f"{len(image)} bytes of image")


if __name__ == "__main__":
    main()
