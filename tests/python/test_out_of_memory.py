"""What is kept when a device runs out of memory: what holds it, and where the program was. There is no
device here: tensors of the CPU stand for its."""
import json
import pickle
import types

import pytest

from strata._base import run_files, settings
from strata._record import out_of_memory

torch = pytest.importorskip("torch")


@pytest.fixture
def device(monkeypatch, tmp_path):
    monkeypatch.setattr(out_of_memory, "_is_on", lambda tensor, device: device == 0)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda device: {
        "allocated_bytes.all.current": 10**9, "reserved_bytes.all.current": 3 * 10**9})
    monkeypatch.setattr(torch.cuda.memory, "_snapshot", lambda: {"segments": [], "device_traces": []})
    monkeypatch.setattr(out_of_memory, "_kept", 0)
    monkeypatch.setattr(run_files, "claim", lambda name: str(tmp_path / name))
    monkeypatch.setattr(run_files, "write_json",
                        lambda path, found: (tmp_path / path).write_text(json.dumps(found)))
    said = []
    monkeypatch.setattr(settings, "say", said.append)
    return types.SimpleNamespace(said=said, folder=tmp_path)


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(300_000))

    def forward(self, x):
        return ask(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Inner(), Inner()])
        self.head = torch.nn.Linear(1000, 100)

    def forward(self, x):
        return self.layers[1](x)


def ask(x):
    out_of_memory._ran_out(torch, 0, 20 * 10**9, 141 * 10**9, 2 * 10**9)
    return x


def run_out(device):
    net = Net()
    for p in net.layers.parameters():
        p.grad = torch.zeros_like(p)
    optimizer = torch.optim.Adam([net.head.weight])
    optimizer.state[net.head.weight] = {"exp_avg": torch.zeros(1000, 100), "step": 3}
    kept = [torch.zeros(123_457) for _ in range(3)]
    view = kept[0][:5]
    net(view)
    return json.loads((device.folder / "out_of_memory.json").read_text())


def test_memory_is_summed_up_by_purpose_and_module(device):
    found = run_out(device)
    purposes = {row["name"]: row["bytes"] for row in found["held_by_purpose"]}
    modules = {row["name"]: row["bytes"] for row in found["held_by_module"]}
    assert modules["Net.layers (2)"] == 4 * 300_000 * 4  # with its gradients
    assert modules["Net.head"] == 4 * 100_100
    assert purposes["gradients"] >= 2 * 300_000 * 4
    assert purposes["optimizer"] >= 4 * 100_000
    others = {row["shape"]: row for row in found["other_tensors"]}
    assert others["[123457]"]["count"] in (2, 3)  # one may count as its view of five
    assert sum(purposes.values()) == 10**9  # the rest is what Python cannot reach


def test_the_line_and_the_module_that_asked_are_named(device):
    found = run_out(device)
    assert found["module"] == "Net.layers.1"
    assert found["line"].startswith("test_out_of_memory.py:") and found["line"].endswith(" in ask")
    assert any(frame.endswith("): forward") for frame in found["stack"])
    assert (found["asked_bytes"], found["free_bytes"], found["unused_bytes"]) == (
        20 * 10**9, 2 * 10**9, 2 * 10**9)


def test_a_program_in_a_folder_called_torch_is_the_users():
    assert out_of_memory._is_users(torch, "/opt/torch/lib/site-packages/transformers/modeling_llama.py")
    assert not out_of_memory._is_users(torch, torch.nn.modules.module.__file__)
    assert not out_of_memory._is_users(torch, out_of_memory.__file__)
    assert not out_of_memory._is_users(torch, "<frozen importlib>")


def test_it_is_said_in_two_lines_and_kept(device):
    run_out(device)
    text, = device.said
    assert text.startswith("out of memory on GPU 0 at test_out_of_memory.py:")
    assert "(Net.layers.1): 20.0 GB asked for, 2.00 GB of 141 GB free, 2.00 GB held but not in use" in text
    assert f"strata memory {device.folder}/out_of_memory.pickle" in text
    assert pickle.loads((device.folder / "out_of_memory.pickle").read_bytes())["segments"] == []


def test_a_program_that_runs_out_on_purpose_is_kept_twice_only(device):
    for _ in range(5):
        ask(None)
    assert len(device.said) == out_of_memory.MOST_KEPT


def test_trouble_is_said_and_the_program_goes_on(device, monkeypatch):
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda device: 1 / 0)
    ask(None)
    assert "what holds it is not known" in device.said[0]


def test_nothing_is_attached_outside_of_a_run(monkeypatch):
    monkeypatch.delenv("STRATA_AUTO", raising=False)
    monkeypatch.setattr(out_of_memory.on_import, "when_imported", lambda *_: pytest.fail("attached"))
    out_of_memory.begin()


def test_the_observer_is_attached_when_the_device_is_first_used():
    queued, attached = [], []
    fake = types.SimpleNamespace(
        _C=types.SimpleNamespace(_cuda_attach_out_of_memory_observer=attached.append),
        cuda=types.SimpleNamespace(_lazy_call=queued.append),
    )
    out_of_memory._torch_is_there(fake)
    assert len(queued) == 1 and not attached
    queued[0]()
    assert len(attached) == 1
    out_of_memory._torch_is_there(types.SimpleNamespace(_C=types.SimpleNamespace()))  # built without CUDA
