"""Workers prepare large batches, but in pageable memory."""
import says
import torch
from case import Case, Fix
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    def __init__(self, side):
        self.frame = torch.randn(8, 3, side, side)

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        return self.frame


def build(at):
    net = torch.nn.Conv2d(3, 64, 3, stride=2, padding=1).to(at.device)

    def loop(pinned):
        loader = DataLoader(Frames(at.size(512, 16)), batch_size=at.size(8, 2), num_workers=at.size(6, 1),
                            pin_memory=pinned and not at.cpu, prefetch_factor=4, persistent_workers=True)
        batches = []

        @torch.no_grad()
        def step():
            if not batches:
                batches.append(iter(loader))
            x = next(batches[0]).to(at.device, non_blocking=True).flatten(0, 1)
            for _ in range(at.size(12, 1)):
                y = net(x)
            return y.sum()
        return step

    return Case("transfer", loop(False), [Fix("pinned", loop(True), says.PINNED)], n=8, tolerance=10)
