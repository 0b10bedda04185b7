"""A small ResNet trained under bf16 autocast in torch's default layout."""
import copy

import says
import torch
import torch.nn.functional as F
from case import Case, Fix
from parts import resnet


def build(at):
    torch.manual_seed(0)
    model = resnet(at.size((2, 2, 2, 2), (1, 1)), at.size(64, 8), at.size(1000, 10)).to(at.device)
    last = copy.deepcopy(model).to(memory_format=torch.channels_last)
    x = at.randn(at.size(192, 2), 3, at.size(224, 32), at.size(224, 32), dtype=torch.float32)
    labels = torch.randint(0, 10, (x.shape[0],), device=at.device)

    def trainer(net, batch):
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)

        def step():
            optimizer.zero_grad()
            with torch.autocast(at.device, torch.bfloat16):
                loss = F.cross_entropy(net(batch), labels)
            loss.backward()
            optimizer.step()
        return step

    return Case("gpu", trainer(model, x), [Fix("channels_last", trainer(
        last, x.to(memory_format=torch.channels_last)), says.CHANNELS_LAST)], n=3)
