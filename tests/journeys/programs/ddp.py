"""Data-parallel training on two processes; the second one is late to every step."""
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def augment(x):
    if dist.get_rank() == 1:
        time.sleep(0.02)
    return x + 1


for _ in range(40):
    loss = model(augment(torch.randn(16, 256))).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
