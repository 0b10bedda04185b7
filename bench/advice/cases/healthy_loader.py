"""Training from a DataLoader with workers enough for a model that takes its time."""
import torch
from case import Case
from loading import Pictures, one_thread
from parts import resnet
from torch.utils.data import DataLoader


def build(at):
    side = at.size(224, 16)
    loader = DataLoader(Pictures(side, 1), batch_size=at.size(96, 2), num_workers=at.size(12, 1),
                        persistent_workers=True, prefetch_factor=4, pin_memory=not at.cpu,
                        worker_init_fn=one_thread)
    model = resnet(at.size((3, 4, 6, 3), (1, 1)), at.size(128, 8), 10).to(at.device, torch.bfloat16)
    model = model.to(memory_format=torch.channels_last)
    compiled = at.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, fused=not at.cpu)
    batches = []

    def step():
        if not batches:
            batches.append(iter(loader))
        x, labels = next(batches[0])
        x = x.to(at.device, non_blocking=True)
        x = x.to(torch.bfloat16, memory_format=torch.channels_last)
        optimizer.zero_grad()
        out = compiled(x).float()
        torch.nn.functional.cross_entropy(out, labels.to(at.device, non_blocking=True)).backward()
        optimizer.step()

    return Case("healthy", step, n=6, settle=at.size(50, 1), reps=at.size(24, 2))
