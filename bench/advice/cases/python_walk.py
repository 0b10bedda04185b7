"""Before every forward a Python function walks over all modules to refresh a cache."""
import says
import torch
from case import Case, Fix
from parts import blocks


def refresh_cache(model):
    """Which modules carry state, by name; never changes."""
    found = {}
    for name, module in model.named_modules():
        for key, value in module.__dict__.items():
            if key.startswith("_cache"):
                found[f"{name}.{key}"] = value
        found[name] = sum(p.numel() for p in module.parameters())
    return found


def build(at):
    dim = at.size(1024, 16)
    model = blocks(at.size(16, 2), dim, at.size(16, 2)).to(at.device, torch.bfloat16).eval()
    x = at.randn(1, at.size(2048, 8), dim)

    @torch.no_grad()
    def step():
        refresh_cache(model)
        return model(x)

    @torch.no_grad()
    def kept():
        return model(x)

    return Case("host", step, [Fix("kept", kept, says.both("refresh_cache"))], n=6, n_full=4,
                seen_by=("full", "strata"))
