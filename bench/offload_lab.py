#!/usr/bin/env python3
"""Runs that stream their weights: timed without a profiler, then traced. Needs a GPU and torch; the
second part needs accelerate and diffusers as well.

    python3 bench/offload_lab.py OUT [leaves] [diffusers]    about two minutes on an H200
    python3 bench/offload_check.py OUT                       anywhere: predictions beside them

leaves     38 transformer blocks (8.61 GB), leaf by leaf, by hooks of our own: every policy
diffusers  a Flux transformer (7.6 GB, random weights): resident, enable_sequential_cpu_offload,
           enable_group_offload(use_stream=True) by leaf and by block
"""
import gc
import gzip
import importlib.util
import json
import shutil
import statistics
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

STEPS, RUNS = 4, 3
TRUTH = {}


def walls(step, runs=RUNS, reset=None):
    """Milliseconds of every step of every run."""
    out = []
    for _ in range(runs):
        if reset:
            reset()
        torch.cuda.synchronize()
        times = []
        for _ in range(STEPS):
            begin = time.perf_counter()
            with record_function("transformer_forward"):
                step()
            torch.cuda.synchronize()
            times.append(round((time.perf_counter() - begin) * 1e3, 3))
        out.append(times)
    return out


def trace(step, path, reset=None):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        walls(step, 1, reset)
    plain = path.with_suffix("")
    prof.export_chrome_trace(str(plain))
    with open(plain, "rb") as f, gzip.open(path, "wb", 6) as g:
        shutil.copyfileobj(f, g)
    plain.unlink()


def note(out, name, runs, **more):
    totals = [round(sum(r), 1) for r in runs]
    TRUTH[name] = {"runs_ms": runs, "totals_ms": totals, "total_ms": statistics.median(totals),
                   "first_ms": statistics.median(r[0] for r in runs),
                   "step_ms": statistics.median(t for r in runs for t in r[1:]), **more}
    print(name, totals, flush=True)
    (out / "truth.json").write_text(json.dumps(TRUTH, indent=1))


def fill(model):
    """Real memory on the host with random contents, made quickly on the device."""
    model.to_empty(device="cpu")
    for tensor in [*model.parameters(), *model.buffers()]:
        if tensor.is_floating_point():
            tensor.data.copy_(torch.randn(tensor.shape, device="cuda", dtype=tensor.dtype) * 0.02)
    return model.eval().requires_grad_(False)


# ---- leaf by leaf ----


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(a.transpose(1, 2).reshape(b, n, c))
        return x + self.fc2(nn.functional.gelu(self.fc1(self.norm2(x))))


class Streamer:
    """Brings a leaf over before it runs and drops it afterwards, unless it stays."""

    def __init__(self, model, pinned):
        self.pinned, self.stays = pinned, set()
        self.leaves = [m for m in model.modules() if any(True for _ in m.parameters(recurse=False))]
        self.size = {m: sum(p.nbytes for p in m.parameters(recurse=False)) for m in self.leaves}
        self.host = {p: p.data.pin_memory() if pinned else p.data for p in model.parameters()}
        for leaf in self.leaves:
            leaf.register_forward_pre_hook(self.load)
            leaf.register_forward_hook(self.drop)

    def load(self, leaf, _):
        if leaf.weight.is_cuda:
            return
        with record_function("load_module"):
            for p in leaf.parameters(recurse=False):
                p.data = self.host[p].to("cuda", non_blocking=self.pinned)

    def drop(self, leaf, *_):
        if leaf not in self.stays:
            self.evict(leaf)

    def evict(self, leaf):
        for p in leaf.parameters(recurse=False):
            p.data = self.host[p]

    def reset(self):
        for leaf in self.leaves:
            self.evict(leaf)
        torch.cuda.empty_cache()

    def choose(self, order, budget):
        """What stays: in the order of size, skipping what no longer fits."""
        self.stays, used = set(), 0
        for leaf in sorted(self.leaves, key=self.size.get, reverse=order == "largest"):
            if used + self.size[leaf] <= budget:
                self.stays.add(leaf)
                used += self.size[leaf]
        return used


def leaves(out):
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = nn.Sequential(*[Block(3072, 24) for _ in range(38)])
    fill(model)
    x = torch.randn(1, 1536, 3072, device="cuda")
    with torch.inference_mode():
        for host in ("pageable", "pinned"):
            s = Streamer(model, host == "pinned")
            walls(lambda: model(x), 1, s.reset)
            for policy, budget in [("stream_all", 0), ("smallest", 3.1e9), ("largest", 3.1e9),
                                   ("largest", 1.5e9), ("largest", 6e9), ("all_resident", 1e12)]:
                used = s.choose(policy, budget)
                note(out, f"{host}_{policy}_{used / 1e9:.2f}GB", walls(lambda: model(x), reset=s.reset),
                     policy=policy, host_memory=host, resident_bytes=used, trace="leaves")
                if policy == "stream_all":
                    trace(lambda: model(x), out / f"leaves_{host}.json.gz", s.reset)
            for leaf in s.leaves:
                s.load(leaf, None)
            note(out, f"{host}_preloaded", walls(lambda: model(x)), policy="preloaded",
                 host_memory=host, trace="leaves")
            s.reset()
            for leaf in s.leaves:
                leaf._forward_pre_hooks.clear()
                leaf._forward_hooks.clear()


# ---- diffusers ----


def make_flux():
    from diffusers import FluxTransformer2DModel
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = FluxTransformer2DModel(num_layers=6, num_single_layers=12, guidance_embeds=False)
    return fill(model)


def flux_step(model):
    ids = lambda n: torch.zeros(n, 3, device="cuda")  # noqa: E731
    given = {"hidden_states": torch.randn(1, 1024, 64, device="cuda"), "img_ids": ids(1024),
             "encoder_hidden_states": torch.randn(1, 512, 4096, device="cuda"), "txt_ids": ids(512),
             "pooled_projections": torch.randn(1, 768, device="cuda"),
             "timestep": torch.tensor([0.5], device="cuda"), "return_dict": False}
    return lambda: model(**given)


def sequential(model):
    import accelerate
    accelerate.cpu_offload(model, torch.device("cuda:0"), offload_buffers=len(model._parameters) > 0)


def group(model, level):
    model.enable_group_offload(onload_device=torch.device("cuda"), offload_device=torch.device("cpu"),
                               offload_type=level, num_blocks_per_group=1, use_stream=True)


def flux(out):
    ways = {"resident": lambda m: m.to("cuda"), "sequential": sequential,
            "group_leaf": lambda m: group(m, "leaf_level"),
            "group_block": lambda m: group(m, "block_level")}
    for name, prepare in ways.items():
        model = make_flux()
        prepare(model)
        step = flux_step(model)
        with torch.inference_mode():
            walls(step, 1)
            note(out, f"flux_{name}", walls(step), way=name, trace="flux")
            if name != "resident":
                trace(step, out / f"flux_{name}.json.gz")
        del model, step
        gc.collect()
        torch.cuda.empty_cache()


def calibrate(out):
    file = Path(__file__).resolve().parent.parent / "python/strata/offload.py"
    spec = importlib.util.spec_from_file_location("strata_offload", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    rates = module.calibrate()
    print(json.dumps(rates), flush=True)
    (out / "rates.json").write_text(json.dumps(rates, indent=1))


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    parts = sys.argv[2:] or ["leaves", "diffusers"]
    calibrate(out)
    for part in parts:
        begin = time.time()
        {"leaves": leaves, "diffusers": flux}[part](out)
        print(f"{part}: {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
