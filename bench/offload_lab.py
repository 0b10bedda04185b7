#!/usr/bin/env python3
"""Runs that stream their weights: timed without a profiler, then traced. Needs a GPU and torch; the
second part needs accelerate and diffusers as well.

    python3 bench/offload_lab.py OUT [leaves] [flux|sd3]...    a minute each on an H200
    python3 bench/offload_check.py OUT                         anywhere: predictions beside them

leaves     transformer blocks (6 to 9 GB), leaf by leaf, by hooks of our own: every policy
flux, sd3  a diffusers transformer (7 GB, random weights): resident, enable_sequential_cpu_offload,
           enable_group_offload(use_stream=True) by leaf and by block, whole-model offload

Rates of pageable copies drift on shared hosts: the run that is traced is timed before and after.
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

STEPS, RUNS = 4, 2
WIDTH, HEADS, BLOCKS, TOKENS = 2560, 20, 40, 3072
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
    with open(plain, "rb") as f, gzip.open(path, "wb", 2) as g:
        shutil.copyfileobj(f, g)
    plain.unlink()


def note(out, name, runs, **more):
    known = TRUTH.get(name, {}).get("runs_ms", [])
    runs = known + runs
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


class Ahead:
    """Copies the leaves `depth` ahead on a stream of its own; streams wait for each other by
    events, the CPU for nothing."""

    def __init__(self, streamer, depth):
        self.s, self.depth, self.stream = streamer, depth, torch.cuda.Stream()
        self.ready, self.order = {}, streamer.leaves
        self.place = {leaf: i for i, leaf in enumerate(self.order)}
        self.hooks = [h for leaf in self.order for h in (
            leaf.register_forward_pre_hook(self.before), leaf.register_forward_hook(self.after))]

    def fetch(self, leaf):
        if leaf in self.ready:
            return
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for p in leaf.parameters(recurse=False):
                p.data = self.s.host[p].to("cuda", non_blocking=True)
        self.ready[leaf] = self.stream.record_event()

    def before(self, leaf, _):
        i = self.place[leaf]
        for ahead in self.order[i:i + 1 + self.depth]:
            self.fetch(ahead)
        torch.cuda.current_stream().wait_event(self.ready[leaf])

    def after(self, leaf, *_):
        for p in leaf.parameters(recurse=False):
            p.data.record_stream(torch.cuda.current_stream())
            p.data = self.s.host[p]
        del self.ready[leaf]

    def remove(self):
        for hook in self.hooks:
            hook.remove()


POLICIES = [("smallest", 2e9), ("largest", 0.8e9), ("largest", 3.7e9), ("all_resident", 1e12)]


def leaves(out):
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        model = nn.Sequential(*[Block(WIDTH, HEADS) for _ in range(BLOCKS)])
    fill(model)
    x = torch.randn(1, TOKENS, WIDTH, device="cuda")
    step = lambda: model(x)  # noqa: E731
    with torch.inference_mode():
        for host in ("pageable", "pinned"):
            s = Streamer(model, host == "pinned")
            more = {"host_memory": host, "trace": "leaves"}
            walls(step, 1, s.reset)
            streamed = {"policy": "stream_all", "resident_bytes": 0, **more}
            note(out, f"{host}_stream_all", walls(step, 1, s.reset), **streamed)
            trace(step, out / f"leaves_{host}.json.gz", s.reset)
            note(out, f"{host}_stream_all", walls(step, 1, s.reset), **streamed)
            for policy, budget in POLICIES:
                used = s.choose(policy, budget)
                runs = 1 if host == "pageable" else RUNS
                note(out, f"{host}_{policy}_{used / 1e9:.2f}GB", walls(step, runs, s.reset),
                     policy=policy, resident_bytes=used, **more)
            for leaf in s.leaves:
                s.load(leaf, None)
            note(out, f"{host}_preloaded", walls(step), policy="preloaded", **more)
            s.choose("smallest", 0)
            note(out, f"{host}_stream_all", walls(step, 1, s.reset), **streamed)
            for leaf in s.leaves:
                leaf._forward_pre_hooks.clear()
                leaf._forward_hooks.clear()
            s.reset()
        for depth, policy in ((1, "prefetch_event"), (3, "prefetch_deep")):
            ahead = Ahead(s, depth)
            walls(step, 1)
            note(out, f"pinned_{policy}", walls(step), policy=policy, depth=depth, steady=True,
                 host_memory="pinned", trace="leaves")
            ahead.remove()


# ---- diffusers ----


def make_flux():
    from diffusers import FluxTransformer2DModel
    with torch.device("meta"):
        model = FluxTransformer2DModel(num_layers=6, num_single_layers=12, guidance_embeds=False)
    ids = lambda n: torch.zeros(n, 3, device="cuda")  # noqa: E731
    return fill(model), {
        "hidden_states": torch.randn(1, 1024, 64, device="cuda"), "img_ids": ids(1024),
        "encoder_hidden_states": torch.randn(1, 512, 4096, device="cuda"), "txt_ids": ids(512),
        "pooled_projections": torch.randn(1, 768, device="cuda"),
        "timestep": torch.tensor([0.5], device="cuda"), "return_dict": False}


def make_sd3():
    from diffusers import SD3Transformer2DModel
    with torch.device("meta"):
        model = SD3Transformer2DModel(
            sample_size=128, num_layers=14, attention_head_dim=64, num_attention_heads=38,
            joint_attention_dim=4096, caption_projection_dim=2432, pooled_projection_dim=2048,
            qk_norm="rms_norm", pos_embed_max_size=192)
    return fill(model), {
        "hidden_states": torch.randn(2, 16, 128, 128, device="cuda"),
        "encoder_hidden_states": torch.randn(2, 333, 4096, device="cuda"),
        "pooled_projections": torch.randn(2, 2048, device="cuda"),
        "timestep": torch.tensor([0.5, 0.5], device="cuda"), "return_dict": False}


MODELS = {"flux": make_flux, "sd3": make_sd3}


def sequential(model):
    import accelerate
    accelerate.cpu_offload(model, torch.device("cuda:0"), offload_buffers=len(model._parameters) > 0)


def group(model, level):
    model.enable_group_offload(onload_device=torch.device("cuda"), offload_device=torch.device("cpu"),
                               offload_type=level, num_blocks_per_group=1, use_stream=True)


def whole(out, name, model, step):
    """A whole-model offload: there, the steps, and back."""
    import accelerate
    model, hook = accelerate.cpu_offload_with_hook(model, "cuda:0")
    runs = []
    for _ in range(RUNS + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(STEPS):
            step()
        hook.offload()
        torch.cuda.synchronize()
        runs.append([round((time.perf_counter() - begin) * 1e3, 3)])
    note(out, f"{name}_model", [r + [0] for r in runs[1:]], way="model", trace=name)


def list_units(out, name, model):
    for scheme in ("sequential", "group_leaf", "group_block"):
        with open(out / f"{name}_{scheme}.modules.json", "w", encoding="utf-8") as f:
            strata_offload().write(strata_offload().list_modules(model, scheme), "registered", f, scheme)


def transformer(out, name):
    torch.set_default_dtype(torch.bfloat16)
    ways = {"resident": lambda m: m.to("cuda"), "sequential": sequential,
            "group_leaf": lambda m: group(m, "leaf_level"),
            "group_block": lambda m: group(m, "block_level"), "model": None}
    for way, prepare in ways.items():
        model, given = MODELS[name]()
        step = lambda model=model, given=given: model(**given)  # noqa: E731
        with torch.inference_mode():
            if way == "model":
                whole(out, name, model, step)
                break
            if way == "resident":
                list_units(out, name, model)
            prepare(model)
            walls(step, 1)
            note(out, f"{name}_{way}", walls(step, 1), way=way, trace=name)
            trace(step, out / f"{name}_{way}.json.gz")
            note(out, f"{name}_{way}", walls(step, 1), way=way, trace=name)
        del model, step
        gc.collect()
        torch.cuda.empty_cache()


def strata_offload():
    if "strata_offload" not in sys.modules:
        file = Path(__file__).resolve().parent.parent / "python/strata/offload.py"
        spec = importlib.util.spec_from_file_location("strata_offload", file)
        sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[spec.name])
    return sys.modules["strata_offload"]


def calibrate(out):
    rates = strata_offload().calibrate()
    print(json.dumps(rates), flush=True)
    (out / "rates.json").write_text(json.dumps(rates, indent=1))


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    calibrate(out)
    for part in sys.argv[2:] or ["leaves", "flux"]:
        begin = time.time()
        if part == "leaves":
            leaves(out)
        else:
            transformer(out, part)
        print(f"{part}: {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
