"""Training from a DataLoader, with samples that take their time: shared by the cases about it."""
import torch
from parts import resnet
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """Pictures that are cut out, mirrored and brought to a common range, sample by sample."""

    def __init__(self, side, work):
        self.side, self.work = side, work
        self.raw = torch.randint(0, 255, (3, side + 32, side + 32), dtype=torch.uint8)

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        top = index % 32
        x = self.raw[:, top:top + self.side, top:top + self.side].float()
        for _ in range(self.work):
            x = (x - x.mean((1, 2), keepdim=True)) / (x.std((1, 2), keepdim=True) + 1e-6)
        return x.flip(2) if index % 2 else x, index % 10


def one_thread(worker):
    torch.set_num_threads(1)


def loop(at, **how):
    """One step per call."""
    side = at.size(160, 16)
    if how["num_workers"]:
        how |= dict(persistent_workers=True, prefetch_factor=2, worker_init_fn=one_thread)
    loader = DataLoader(Pictures(side, at.size(3, 1)), batch_size=at.size(16, 2), **how)
    model = resnet(at.size((2, 2, 2, 2), (1, 1)), at.size(64, 8), 10).to(at.device)
    model = model.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)
    batches = []

    def step():
        if not batches:
            batches.append(iter(loader))
        x, labels = next(batches[0])
        x = x.to(at.device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(at.device, non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast(at.device, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
    return step
