"""Lightning, with samples that take 2 ms to read."""
import time
import warnings

import pytorch_lightning as pl
import torch

warnings.filterwarnings("ignore")


class Photos(torch.utils.data.Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, at):
        time.sleep(0.002)
        return torch.full((64,), at / 800), at % 10


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
           enable_progress_bar=False, enable_model_summary=False).fit(
    Model(), torch.utils.data.DataLoader(Photos(), batch_size=8))
