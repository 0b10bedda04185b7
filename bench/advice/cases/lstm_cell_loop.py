"""A recurrent network as a Python loop over time."""
import says
import torch
import torch.nn as nn
from case import Case, Fix


class Rolled(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.cell = nn.LSTMCell(dim, dim)

    def forward(self, x):
        h = c = torch.zeros_like(x[0])
        out = []
        for frame in x:
            h, c = self.cell(frame, (h, c))
            out.append(h)
        return torch.stack(out)


def build(at):
    dim, frames = at.size((512, 128), (16, 4))
    model = Rolled(dim).to(at.device)
    whole = nn.LSTM(dim, dim).to(at.device)
    whole.load_state_dict({f"{k.removeprefix('cell.')}_l0": v for k, v in model.state_dict().items()})
    x = at.randn(frames, 32, dim, dtype=torch.float32)

    @torch.no_grad()
    def call():
        return model(x)

    @torch.no_grad()
    def cudnn():
        return whole(x)[0]

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("cudnn", cudnn, r"(?i)nn\.LSTM|cudnn")], n=6, n_full=4)
