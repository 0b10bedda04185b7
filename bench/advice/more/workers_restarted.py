"""Short epochs: the workers of the DataLoader are started again for each."""
import torch
from case import Case, Fix
from parts import blocks
from torch.utils.data import DataLoader, Dataset


class Few(Dataset):
    def __init__(self, n, dim):
        self.n, self.x = n, torch.randn(64, dim)

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return self.x


def build(at):
    dim = at.size(1024, 16)
    net = blocks(at.size(8, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu)

    def training(**how):
        loader = DataLoader(Few(at.size(160, 4), dim), batch_size=at.size(16, 2), num_workers=2,
                            pin_memory=not at.cpu, **how)

        def epoch():
            for x in loader:
                optimizer.zero_grad()
                net(x.to(at.device, torch.bfloat16, non_blocking=True)).square().mean().backward()
                optimizer.step()
        return epoch

    return Case("host", training(), [Fix("persistent", training(persistent_workers=True),
                                         r"(?i)persistent_workers|worker")], n=2, reps=1)
