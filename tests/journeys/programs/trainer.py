"""A Trainer that waits for its data: every sample takes 2 ms to read."""
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, at):
        time.sleep(0.002)
        ids = torch.randint(0, 1000, (16,))
        return {"input_ids": ids, "labels": ids}


model = LlamaForCausalLM(LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                     num_attention_heads=4, vocab_size=1000))
Trainer(model, TrainingArguments("out", per_device_train_batch_size=8, num_train_epochs=1, report_to=[],
                                 save_strategy="no", logging_strategy="no", use_cpu=True, disable_tqdm=True),
        train_dataset=Texts()).train()
