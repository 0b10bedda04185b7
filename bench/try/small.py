"""Many small layers, which the CPU cannot launch fast enough."""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
dim, depth, steps = (256, 40, 4000) if device == "cuda" else (64, 10, 2000)
dtype = torch.float16 if device == "cuda" else torch.float32
torch.manual_seed(0)


def layer():
    return torch.nn.Sequential(torch.nn.LayerNorm(dim), torch.nn.Linear(dim, dim), torch.nn.GELU())


net = torch.nn.Sequential(*[layer() for _ in range(depth)]).to(device, dtype).eval()
x = torch.randn(32, dim, device=device, dtype=dtype)
best = 0.0
with torch.no_grad():
    for step in range(steps):
        y = net(x)
        if step % 10 == 0:
            best = max(best, float(y.abs().max()))
print("best", best)
