"""A transformer whose attention takes the math path, and which frees its memory in every step."""
import torch
import torch.nn.functional as F

big = torch.cuda.is_available()
device = "cuda" if big else "cpu"
dim, heads, depth, batch, length = (1024, 16, 8, 8, 1024) if big else (64, 4, 2, 1, 64)
torch.manual_seed(0)
torch.backends.cuda.enable_flash_sdp(False)
torch.backends.cuda.enable_mem_efficient_sdp(False)
torch.backends.cuda.enable_cudnn_sdp(False)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(dim), torch.nn.LayerNorm(dim)
        self.qkv, self.out = torch.nn.Linear(dim, 3 * dim), torch.nn.Linear(dim, dim)
        self.up, self.down = torch.nn.Linear(dim, 4 * dim), torch.nn.Linear(4 * dim, dim)

    def forward(self, x):
        parts = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (y.view(batch, length, heads, -1).transpose(1, 2) for y in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, dim))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


model = torch.nn.Sequential(*[Layer() for _ in range(depth)]).to(device, torch.bfloat16).eval()
x = torch.randn(batch, length, dim, device=device, dtype=torch.bfloat16)
with torch.no_grad():
    for _ in range(300 if big else 1500):
        y = model(x)
        if big:
            torch.cuda.empty_cache()
print("sum", float(y.float().sum()))
