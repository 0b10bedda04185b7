"""A request's many small features are uploaded one by one."""
import says
import torch
from case import Case, Fix
from parts import MLP


def build(at):
    features, dim = at.size((128, 64), (4, 8))
    names = [f"feature{i}" for i in range(features)]
    request = {name: torch.randn(dim) for name in names}
    model = MLP(dim, 8).to(at.device)
    packed = torch.empty(features, dim, pin_memory=not at.cpu)

    @torch.no_grad()
    def call():
        inputs = {name: value.to(at.device) for name, value in request.items()}
        return model(torch.stack([inputs[name] for name in names]))

    @torch.no_grad()
    def together():
        torch.stack([request[name] for name in names], out=packed)
        return model(packed.to(at.device, non_blocking=True))

    return Case("transfer", call, [Fix("one_copy", together, says.PACK)], n=6)
