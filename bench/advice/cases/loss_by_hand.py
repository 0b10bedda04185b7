"""Cross entropy over a large vocabulary, written out."""
import says
import torch
import torch.nn.functional as F
from case import Case, Fix


def loss(logits, labels):
    x = logits.float()
    x = x - x.max(-1, keepdim=True).values
    p = torch.exp(x)
    p = p / p.sum(-1, keepdim=True)
    return -torch.log(p.gather(-1, labels[:, None])).mean()


def build(at):
    rows, vocabulary = at.size((16384, 32000), (16, 100))
    logits = at.randn(rows, vocabulary)
    labels = torch.randint(0, vocabulary, (rows,), device=at.device)
    compiled = at.compile(loss)
    return Case("gpu", lambda: loss(logits, labels), [
        Fix("compile", lambda: compiled(logits, labels), says.COMPILE),
        Fix("cross_entropy", lambda: F.cross_entropy(logits.float(), labels),
            r"(?i)cross_entropy|log_softmax|F\.softmax")], n=5)
