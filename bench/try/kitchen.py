"""A loop with many mistakes at once."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)


class Block(torch.nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = (torch.nn.Conv2d(c, c, 3, padding=1) for _ in range(2))
        self.qkv, self.out = torch.nn.Conv2d(c, 3 * c, 1), torch.nn.Conv2d(c, c, 1)

    def forward(self, x):
        x = x + self.b(F.silu(self.a(x)))
        n, c, h, w = x.shape
        parts = self.qkv(x).chunk(3, 1)
        q, k, v = (t.reshape(n, 4, c // 4, h * w).transpose(2, 3).half() for t in parts)
        with sdpa_kernel(SDPBackend.MATH):
            y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.to(x.dtype).transpose(2, 3).reshape(n, c, h, w))


class Net(torch.nn.Module):
    def __init__(self, c=128):
        super().__init__()
        self.head, self.tail = torch.nn.Conv2d(3, c, 3, padding=1), torch.nn.Conv2d(c, 3, 3, padding=1)
        self.blocks = torch.nn.ModuleList(Block(c) for _ in range(4))

    def forward(self, x):
        x = self.head(x)
        for block in self.blocks:
            x = block(x)
        return self.tail(x)


net = Net().to(device).eval()
size = 32 if device == "cuda" else 8
images = [torch.randn(16, 3, size, size) for _ in range(8)]
index = [{"name": f"image {i}", "tags": [str(i), {"n": i}]} for i in range(300_000)]
log = []
with torch.no_grad():
    for step in range(1200):
        y = net(images[step % 8].to(device))
        if device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        log = [*log, {"step": step, "seen": [{"k": j} for j in range(40)]}][-500:]
print("sum", float(y.sum()))
