"""Real memory snapshots, made on a machine with a GPU: make.py FOLDER. A healthy training, one that keeps its
outputs, one that fragments, one that runs out of memory; what torch itself counts stands beside each. In the
checked-in files, this file is called /srv/train.py."""
import gc
import json
import os
import sys
import time

import torch
from torch import nn

OUT = sys.argv[1]


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self, width=512, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def make(width=512, depth=4):
    model = Net(width, depth).cuda()
    return model, torch.optim.AdamW(model.parameters())


def step(model, optimizer, x):
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss


def train_healthy():
    model, optimizer = make()
    x = torch.randn(2048, 512, device="cuda")
    for _ in range(6):
        step(model, optimizer, x)
    torch.cuda.synchronize()


def train_growing():
    model, optimizer = make()
    x = torch.randn(2048, 512, device="cuda")
    kept = []
    for _ in range(8):
        out = model(x)
        loss = out.square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        kept.append(out.detach().clone())      # never freed: 4 MB a step
    torch.cuda.synchronize()
    return kept


def fragment():
    small = []
    for _ in range(40):
        big = torch.empty(48 << 20, dtype=torch.uint8, device="cuda")
        small.append(torch.empty(3 << 20, dtype=torch.uint8, device="cuda"))
        del big
    held = [torch.empty((20 + i) << 20, dtype=torch.uint8, device="cuda") for i in range(30)]
    for i in range(0, 30, 2):
        held[i] = None
    return small, held


def run_out():
    model, optimizer = make(1024, 4)
    x = torch.randn(4096, 1024, device="cuda")
    step(model, optimizer, x)
    kept = []
    free, _ = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction(0.02)
    try:
        for _ in range(200):
            kept.append(torch.empty(96 << 20, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError as e:
        print("  out of memory, as it should:", str(e)[:120])
    torch.cuda.set_per_process_memory_fraction(1.0)
    return kept


def record(name, body, stacks, late=False, entries=100000):
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    began = time.time()
    if not late:
        torch.cuda.memory._record_memory_history(max_entries=entries, stacks=stacks)
    kept = body()
    path = f"{OUT}/{name}.pickle"
    torch.cuda.memory._dump_snapshot(path)
    stats = torch.cuda.memory_stats()
    figures = {k: stats[k] for k in ("allocated_bytes.all.current", "allocated_bytes.all.peak",
                                     "reserved_bytes.all.current", "reserved_bytes.all.peak",
                                     "active_bytes.all.current", "requested_bytes.all.peak",
                                     "inactive_split_bytes.all.current", "num_ooms")}
    torch.cuda.memory._record_memory_history(enabled=None)
    json.dump(figures, open(f"{OUT}/{name}.json", "w"), indent=1)
    print(f"{name}: {os.path.getsize(path):,} bytes, peak {figures['allocated_bytes.all.peak']:,}, "
          f"{time.time() - began:.1f} s", flush=True)
    del kept


def main():
    torch.manual_seed(0)
    record("healthy", train_healthy, "python")
    record("growing", train_growing, "python")
    record("growing_all", train_growing, "all")
    record("fragmented", fragment, "python")
    record("oom", run_out, "python")
    record("ring", train_growing, "python", entries=300)


main()
