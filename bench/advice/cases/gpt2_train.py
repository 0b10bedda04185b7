"""Training transformers' GPT-2 in bf16 autocast with AdamW(foreach=False)."""
import copy

import says
import torch
from case import Case, Fix
from transformers import GPT2Config, GPT2LMHeadModel


def build(at):
    torch.manual_seed(0)
    shape = at.size({}, dict(n_layer=2, n_embd=16, n_head=2, vocab_size=100))
    model = GPT2LMHeadModel(GPT2Config(**shape)).to(at.device).train()
    ids = torch.randint(0, 100, at.size((8, 256), (2, 8)), device=at.device)

    def trainer(net, **how):
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, **how)

        def step():
            optimizer.zero_grad()
            with torch.autocast(at.device, torch.bfloat16):
                loss = net(ids, labels=ids).loss
            loss.backward()
            optimizer.step()
        return step

    return Case("launch", trainer(model, foreach=False), [
        Fix("fused", trainer(copy.deepcopy(model), fused=True), says.FUSED),
        Fix("foreach", trainer(copy.deepcopy(model), foreach=True), says.FOREACH)], n=4, n_full=2)
