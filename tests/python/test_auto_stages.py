"""Stages that `strata run` derives for programs that name none: the real packages, unchanged, and that
nothing of it gets in the way of what a program names itself."""
import json
import sys

import pytest

from conftest import PROGRAM

GENERATE = """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    model = LlamaForCausalLM(LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                                         num_attention_heads=2, vocab_size=100)).eval()
    for _ in range(3):
        model.generate(torch.ones(1, 5, dtype=torch.long), max_new_tokens=8, min_new_tokens=8,
                       do_sample=False, pad_token_id=0)
"""

TRAINER = """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
    model = BertForSequenceClassification(BertConfig(hidden_size=32, intermediate_size=64, vocab_size=50,
                                                     num_hidden_layers=2, num_attention_heads=2))
    data = [{"input_ids": torch.ones(8, dtype=torch.long), "labels": torch.tensor(i % 2)}
            for i in range(16)]
    trainer = Trainer(model, TrainingArguments(
        "out", per_device_train_batch_size=4, num_train_epochs=1, report_to=[], save_strategy="no",
        use_cpu=True, disable_tqdm=True), train_dataset=data, eval_dataset=data)
    trainer.train()
    trainer.evaluate()
"""

LOOP = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
            self.head = nn.Linear(64, 4)
        def forward(self, x):
            return self.head(self.body(x))
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(TensorDataset(torch.randn(64, 64), torch.randint(4, (64,))), batch_size=8)
"""

ACCELERATE = LOOP + """
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        optimizer.zero_grad()
        accelerator.backward(nn.functional.cross_entropy(model(x), y))
        optimizer.step()
"""

LIGHTNING = LOOP + """
    import pytorch_lightning as pl
    class Lit(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = model
        def training_step(self, batch, i):
            return nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        def validation_step(self, batch, i):
            return nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)
    pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
               enable_progress_bar=False, enable_model_summary=False).fit(Lit(), loader, loader)
"""


@pytest.fixture
def under_run(program):
    def run(text, *options, **env):
        done = program(text, command=(PROGRAM, "run", *options, "--", sys.executable), PYTHONPATH=None,
                       HF_HUB_OFFLINE=1, timeout=120, **env)
        assert done.status == 0, done.stderr
        return done

    return run


@pytest.mark.parametrize("package, text, expected", [
    ("transformers", GENERATE, {"generate": 3, "generate/LlamaForCausalLM": 24}),
    ("transformers", TRAINER, {
        "train": 1, "train/training_step": 4, "train/training_step/backward": 4,
        "train/training_step/BertForSequenceClassification": 4, "train/optimizer.step": 4,
        "evaluate": 1, "evaluate/BertForSequenceClassification": 2}),
    ("accelerate", ACCELERATE, {"Net": 8, "backward": 8, "optimizer.step": 8, "DataLoader.__next__": 9}),
    ("pytorch_lightning", LIGHTNING, {
        "fit": 1, "fit/optimizer.step": 8, "fit/optimizer.step/training_step/Net": 8,
        "fit/optimizer.step/backward": 8}),
])
@pytest.mark.slow
def test_programs_that_name_nothing(under_run, package, text, expected):
    """Calls, times, memory and files, and how to see more."""
    pytest.importorskip(package)
    done = under_run(text)
    found = done.json()["stages"]
    assert {path: found.get(path, {}).get("count") for path in expected} == expected, list(found)
    assert not any("errors" in s for s in found.values())
    assert all(s["memory"]["rss_peak_bytes"] > 1e6 and s["duration_ms"] > 0 for s in found.values())
    assert not any(path.endswith(("Linear", "Sequential")) for path in found)  # only the outermost
    assert done.json("environment.json")["packages"]["torch"]
    assert "peak mem" in done.stderr and "strata run --level timeline" in done.stderr


def test_phases_of_a_trainer_are_in_a_timeline_too(under_run):
    """The same stages at both levels."""
    pytest.importorskip("transformers")
    found = under_run(TRAINER, "--level", "timeline").json()["stages"]
    expected = {"train": 1, "train/training_step": 4, "train/training_step/backward": 4,
                "train/training_step/BertForSequenceClassification": 4, "evaluate": 1,
                "evaluate/BertForSequenceClassification": 2}
    assert {path: found.get(path, {}).get("count") for path in expected} == expected, list(found)


def test_what_the_program_names_counts(under_run):
    """Inside its stages nothing is derived; beside them it is."""
    done = under_run(LOOP + """
    import strata
    for x, y in loader:
        with strata.stage("step"):
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
    handle = strata.watch(model, name="watched")
    model(x)
    """)
    found = {path: s["count"] for path, s in done.json()["stages"].items()}
    assert found == {"DataLoader.__next__": 9, "step": 8, "backward": 8, "watched": 1}


@pytest.mark.slow
def test_it_stays_out_of_the_way(under_run):
    """Exceptions pass and are counted, compiled code has no break, threads and forks work; and it can
    be switched off."""
    text = LOOP + """
    import threading
    class Bad(nn.Module):
        def forward(self, x):
            raise ValueError("as usual")
    try:
        Bad()(1)
    except ValueError as error:
        assert str(error) == "as usual"
    seen = []
    compiled = torch.compile(model, backend=lambda g, i: seen.append(g) or g.forward, fullgraph=True)
    x = torch.randn(2, 64)
    assert torch.allclose(compiled(x), model(x)) and len(seen) == 1
    threads = [threading.Thread(target=model, args=(x,)) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    for batch in DataLoader(range(8), num_workers=2, collate_fn=lambda b: model(torch.ones(1, 64)).detach()):
        pass
    """
    found = under_run(text).json()["stages"]
    assert found["Bad"]["errors"] == 1 and found["Net"]["count"] >= 5
    assert "torch.compile" in " ".join(found)
    off = under_run(text, STRATA_TEST_DERIVED="off")
    assert len(off.folders()) == 1 and "the program took" in off.stderr  # that of the run before


def test_a_program_without_torch(under_run):
    done = under_run("x = bytearray(50 << 20)")
    assert "the program took" in done.stderr and "of memory" in done.stderr
    assert "strata run --level timeline" in done.stderr and not done.folders()


def test_json_holds_nothing_else(under_run):
    assert json.loads(under_run(ACCELERATE, "--json").stdout)["stages"]


def test_functions_of_a_program_without_operators(under_run):
    """The thread that imports torch is watched from there on; where functions are not wanted either,
    nothing is left to record, and the advice is not about torch.profiler."""
    pytest.importorskip("torch")
    text = """
    import time
    import torch

    def squares():
        return sum(i * i for i in range(20000))

    end = time.monotonic() + 1
    while time.monotonic() < end:
        squares()
    """
    assert "squares" in under_run(text, "--level", "timeline").stderr
    said = under_run(text, "--level", "timeline", STRATA_PYTHON_STACKS="off").stderr
    assert "nothing of the program was recorded" in said and "strata doctor" in said
    assert "squares" not in said and "prof.step" not in said
