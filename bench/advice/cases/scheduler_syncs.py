"""A denoising loop whose scheduler looks its timestep up on the device, as diffusers' did."""
import says
import torch
from case import Case, Fix
from parts import blocks


class Scheduler:
    """Euler steps; the index of a timestep is found by comparing."""

    def __init__(self, steps, device):
        self.timesteps = torch.linspace(999, 1, steps, device=device)
        self.sigmas = torch.linspace(14, 0, steps + 1, device=device)

    def index_for_timestep(self, t):
        return (self.timesteps == t).nonzero()[0].item()

    def step(self, noise, t, sample):
        i = self.index_for_timestep(t)
        sigma, after = self.sigmas[i].item(), self.sigmas[i + 1].item()
        return sample + noise * (after - sigma) / 100


class Counted(Scheduler):
    """The same with a counter and the sigmas on the host."""

    def __init__(self, steps, device):
        super().__init__(steps, device)
        self.known = self.sigmas.tolist()

    def step(self, noise, t, sample):
        return sample + noise * (self.known[t + 1] - self.known[t]) / 100


def cache_context(model):
    """What pipelines do around the model: look at every module for hooks."""
    return [name for name, module in model.named_modules() if hasattr(module, "_cache_hook")]


def build(at):
    dim, steps = at.size((1536, 12), (32, 3))
    model = blocks(at.size(12, 2), dim, at.size(24, 2)).to(at.device, torch.bfloat16).eval()
    start = at.randn(1, at.size(3072, 8), dim)

    @torch.no_grad()
    def sample():
        scheduler, x = Scheduler(steps, at.device), start
        for t in scheduler.timesteps:
            cache_context(model)
            x = scheduler.step(model(x), t, x)
        return x

    @torch.no_grad()
    def counted():
        scheduler, x = Counted(steps, at.device), start
        for t in range(steps):
            cache_context(model)
            x = scheduler.step(model(x), t, x)
        return x

    return Case("host", sample, [Fix("no_sync", counted, says.NO_SYNC)], n=2, n_full=1)
