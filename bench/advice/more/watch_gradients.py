"""A logger takes a histogram of every gradient in every step."""
import torch
from case import Case, Fix
from parts import blocks, regression


def build(at):
    dim = at.size(1024, 16)
    net = blocks(at.size(8, 1), dim, at.size(16, 2)).to(at.device, torch.bfloat16)
    x, y = at.randn(4, at.size(512, 8), dim), at.randn(4, at.size(512, 8), dim)
    step = regression(net, x, y, torch.optim.SGD(net.parameters(), lr=1e-7, fused=not at.cpu))
    watched, history = [False], {}

    def log_histogram(name):
        def hook(grad):
            if watched[0]:
                flat = grad.detach().float()
                low, high = flat.min().item(), flat.max().item()
                history[name] = torch.histc(flat, 64, low, high).cpu().tolist()
        return hook

    for name, weight in net.named_parameters():
        weight.register_hook(log_histogram(name))

    def call(watch):
        watched[0] = watch
        step()

    words = r"(?i)log_histogram|\.item\(\)|sync_in_loop|reads? .{0,40}(back|host)|waits for the GPU"
    return Case("host", lambda: call(True), [Fix("off", lambda: call(False), words)], n=3)
