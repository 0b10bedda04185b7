"""A BERT encoder of transformers in float32: embeddings of a batch of documents."""
import says
import torch
from case import Case, Fix
from transformers import BertConfig, BertModel


def build(at):
    torch.manual_seed(0)
    config = at.size(BertConfig(), BertConfig(hidden_size=32, num_hidden_layers=2, intermediate_size=64,
                                              num_attention_heads=2, vocab_size=100))
    model = BertModel(config).to(at.device).eval()
    half = BertModel(config).to(at.device).eval()
    half.load_state_dict(model.state_dict())
    half = half.bfloat16()
    ids = torch.randint(0, 100, at.size((32, 512), (2, 16)), device=at.device)

    @torch.no_grad()
    def embed():
        return model(ids).pooler_output

    @torch.no_grad()
    def tf32():
        torch.set_float32_matmul_precision("high")
        try:
            return model(ids).pooler_output
        finally:
            torch.set_float32_matmul_precision("highest")

    @torch.no_grad()
    def bf16():
        return half(ids).pooler_output

    return Case("gpu", embed, [Fix("tf32", tf32, says.TF32), Fix("bf16", bf16, says.BF16)], n=4)
