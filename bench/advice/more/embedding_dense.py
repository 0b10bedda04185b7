"""A recommender's embedding of two million rows has a dense gradient of few rows."""
import torch
import torch.nn as nn
from case import Case, Fix


def build(at):
    rows, dim = at.size((2_000_000, 64), (100, 8))
    ids = torch.randint(0, rows, (at.size(8192, 8), 4), device=at.device)

    def training(sparse):
        torch.manual_seed(0)
        table = nn.Embedding(rows, dim, sparse=sparse).to(at.device)
        tower = nn.Sequential(nn.Linear(4 * dim, 512), nn.ReLU(), nn.Linear(512, 1)).to(at.device)
        weights = torch.optim.SGD(table.parameters(), lr=1e-3)
        dense = torch.optim.SGD(tower.parameters(), lr=1e-3)

        def step():
            weights.zero_grad()
            dense.zero_grad()
            loss = tower(table(ids).flatten(1)).square().mean()
            loss.backward()
            weights.step()
            dense.step()
            return loss.detach()
        return step

    return Case("gpu", training(False), [Fix("sparse", training(True), r"(?i)sparse")], n=6, tolerance=0.2)
