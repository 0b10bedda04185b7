"""A ResNet trained in bf16, channels_last, compiled, with a fused optimizer."""
import torch
from case import Case
from parts import resnet


def build(at):
    model = resnet(at.size((3, 4, 6, 3), (1, 1)), at.size(64, 8), 100).to(at.device)
    model = model.to(memory_format=torch.channels_last)
    fast = at.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9, fused=not at.cpu)
    x = at.randn(at.size(256, 2), 3, at.size(224, 16), at.size(224, 16), dtype=torch.float32)
    x = x.to(memory_format=torch.channels_last)
    labels = torch.randint(0, 100, (x.shape[0],), device=at.device)

    def step():
        optimizer.zero_grad()
        with torch.autocast(at.device, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(fast(x), labels)
        loss.backward()
        optimizer.step()

    return Case("healthy", step, n=4)
