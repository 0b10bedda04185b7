"""transformers' ViT looks at one image at a time."""
import says
import torch
from case import Case, Fix
from transformers import ViTConfig, ViTModel


def build(at):
    torch.manual_seed(0)
    config = ViTConfig(**at.size({}, dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                          intermediate_size=64, image_size=32)))
    model = ViTModel(config).to(at.device, torch.bfloat16).eval()
    image = at.randn(1, 3, config.image_size, config.image_size)
    fast = at.compile(model)

    @torch.no_grad()
    def call(net=model):
        return net(image).last_hidden_state

    graph = at.lazily(lambda: at.graph(call))
    return Case("launch", call, [Fix("graph", graph, says.GRAPH),
                                 Fix("compile", lambda: call(fast), says.COMPILE)], n=6, tolerance=0.2)
