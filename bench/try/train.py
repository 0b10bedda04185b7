"""Training: images are made by the main process, and the optimizer loops over its parameters."""
import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

device = "cuda" if torch.cuda.is_available() else "cpu"
dim, depth, batch = (256, 12, 64) if device == "cuda" else (32, 2, 8)
torch.manual_seed(0)


class Images(Dataset):
    def __len__(self):
        return 300 * batch

    def __getitem__(self, i):
        image = np.random.default_rng(i).integers(0, 255, (48, 48, 3), dtype=np.uint8)
        image = image.astype(np.float32) / 255
        image = (image - image.mean((0, 1))) / image.std((0, 1))
        return torch.from_numpy(image.transpose(2, 0, 1).copy()), i % 10


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.head = torch.nn.Conv2d(3, dim, 8, 8), torch.nn.Linear(dim, 10)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(dim, 4, 4 * dim, 0.0, batch_first=True) for _ in range(depth))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


model = Net().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
loader = DataLoader(Images(), batch_size=batch, num_workers=0)
for x, y in loader:
    loss = F.cross_entropy(model(x.to(device)), y.to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", loss.item())
