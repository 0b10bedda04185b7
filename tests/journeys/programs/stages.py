"""Stages of a pipeline as TeleFuser marks them; a denoising loop of eight steps."""
import sys

import torch

from strata.telefuser.profiler import ProfilingContext
from strata.telefuser.stage_bench_harness import HarnessConfig, StageBenchHarness


class Scheduler:
    def set_timesteps(self, num_inference_steps, shift=1.0):
        self.timesteps = torch.linspace(1, 0, num_inference_steps)

    def step(self, noise, timestep, latents):
        return latents - noise


class Denoise:
    def __init__(self):
        self.dit, self.scheduler = torch.nn.Linear(64, 64), Scheduler()

    @ProfilingContext("denoise")
    @torch.inference_mode()
    def process(self, latents, num_inference_steps=8):
        self.scheduler.set_timesteps(num_inference_steps)
        for t in self.scheduler.timesteps:
            latents = self.scheduler.step(self.dit(latents), t, latents)
        return latents


if __name__ == "__main__":
    stage = Denoise()
    for _ in range(3):
        stage.process(torch.ones(16, 64))
    if len(sys.argv) > 1:
        harness = StageBenchHarness.from_signature_file(signature_path=sys.argv[1], stage_name="denoise",
                                                        stage_instance=stage, config=HarnessConfig(warmup=1))
        harness.setup()
        harness.profile()
