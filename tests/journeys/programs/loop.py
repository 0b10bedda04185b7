"""A training loop of half a minute that knows nothing of strata."""
import time

import torch

model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
end = time.monotonic() + 30
print("ready", flush=True)
while time.monotonic() < end:
    loss = model(torch.randn(16, 256)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
