"""What strata try must not trip over: launchers, phases before the loop, evaluation before training, several
modules, optimizers, loaders and devices, caches that calls go on writing to."""
import gc
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from strata._try import fixes  # noqa: E402
from strata._try.inside import device, modules, places, start, units  # noqa: E402
from strata._try.inside.log import Log  # noqa: E402
from strata._try.trial import Trial, read  # noqa: E402


class Ended(BaseException):
    """In the place of the end of the process."""


@pytest.fixture
def ends(monkeypatch):
    def end(status):
        raise Ended

    monkeypatch.setattr(units.os, "_exit", end)


@pytest.fixture
def data_loaders(monkeypatch):
    """torch's, which fixes may change as they like."""
    from torch.utils.data import dataloader
    for name in ("__init__", "__iter__", "_get_iterator"):
        monkeypatch.setattr(dataloader.DataLoader, name, getattr(dataloader.DataLoader, name))
    return dataloader


def taken(folder):
    made = Trial(str(folder), [])
    read(made)
    return made


def test_launchers_call_no_modules(tmp_path):
    """torchrun is a Python, too: it waits in vain, but its workers do not."""
    waits = '{"what":"waiting","fix":"bf16:model","module":"model"}\n'
    (tmp_path / "units-1.jsonl").write_text('{"what":"begin"}\n' + waits)
    assert taken(tmp_path).failures["bf16:model"]["message"] == "the program calls no module 'model'"
    (tmp_path / "units-2.jsonl").write_text('{"what":"target","fix":"bf16:model","written":"net"}\n'
                                            '{"what":"unit","unit":"step:optimizer.step","k":0,"ms":5}\n')
    found = taken(tmp_path)
    assert not found.failures and found.failure is None and found.targets == {"bf16:model": "net"}


def test_a_phase_before_the_loop_is_not_the_program(tmp_path, monkeypatch, ends):
    """Means of a dataset, before it is trained with: short batches do not end the first process."""
    clock = [0.0]
    monkeypatch.setattr(device.time, "perf_counter", lambda: clock[0])
    found = units.Units(Log(str(tmp_path)), {"most_units": 120, "phase_s": 10.0})

    def steps(name, n, seconds):
        for _ in range(n):
            clock[0] += seconds
            found.step(name)

    steps("DataLoader", 300, 0.001)
    with pytest.raises(Ended):
        steps("optimizer.step", 300, 0.001)
    assert found.counts == {"step:DataLoader": 299, "step:optimizer.step": 120}
    with pytest.raises(Ended):
        steps("DataLoader", 100000, 0.001)  # nothing else comes


def test_ranks_end_with_the_same_unit(tmp_path, monkeypatch, ends):
    """By their number, not by their clocks."""
    found = units.Units(Log(str(tmp_path)), {"most_units": 50, "most_s": 1e-9, "least_units": 3})
    monkeypatch.setattr(units, "_has_ranks", lambda: True)
    with pytest.raises(Ended):
        for _ in range(100):
            found.step("optimizer.step")
    assert found.counts["step:optimizer.step"] == 50


@pytest.mark.parametrize("main,expected", [("", "teacher"), ("model", "model"), ("teacher", "teacher")])
def test_which_module_is_the_model(monkeypatch, main, expected):
    """Not the first that is called, if the first process has shown which it is."""
    found = []
    both = {"teacher": torch.nn.Linear(2, 2), "model": torch.nn.Linear(2, 2)}
    monkeypatch.setattr(places, "name_of", lambda value: next(k for k, v in both.items() if v is value))
    targets = modules.Targets([fixes.parse("bf16:model")], lambda fix, module, _: found.append(module), main)
    for module in both.values():
        targets.offer_called(module)
    assert found == [both[expected]]


def test_the_second_module_of_a_class_is_found_again(tmp_path):
    """It is the unit that the first process has chosen."""
    plan = {"unit": "step:Linear#1", "folder": str(tmp_path), "fixes": []}
    trial = start.Trial(plan)
    first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    for _ in range(3):
        trial._called(first)
        first(torch.ones(2))
    for _ in range(5):
        trial._called(second)
        second(torch.ones(2))
    trial.units.flush(True)
    assert {k: len(v) for k, v in taken(tmp_path).series.items()} == {"step:Linear#1": 4}


def test_optimizers_are_named_in_the_order_of_their_steps(tmp_path, monkeypatch):
    """Also where one is gone before the next is made, and its place in memory is used again."""
    class Optimizer:
        pass

    found, hooks = units.Units(Log(str(tmp_path)), {}), []
    module = sys.modules["torch.optim.optimizer"]
    monkeypatch.setattr(module, "register_optimizer_step_post_hook", hooks.append)
    found._torch(torch)
    for _ in range(4):
        optimizer = Optimizer()
        for _ in range(3):
            hooks[0](optimizer, (), {})
        del optimizer
    found.flush(True)
    assert {k: len(v) for k, v in taken(tmp_path).series.items()} == {
        f"step:optimizer{n or ''}.step": 2 for n in range(4)}


def test_nothing_happens_inside_a_capture(tmp_path, monkeypatch):
    """A step that becomes part of a CUDA graph is no unit: its results cannot be read there."""
    monkeypatch.setattr(device, "is_capturing", lambda: True)
    found, kept = units.Units(Log(str(tmp_path)), {}), []
    for _ in range(5):
        found.step("optimizer.step", lambda: kept.append(1))
    assert not kept and not found.counts


def test_calls_that_write_to_a_cache(tmp_path):
    """What is made again finds it as the first call did, and the program has what that left there."""
    class DynamicCache:
        def __init__(self):
            self.words = [1]

    cache, seen = DynamicCache(), []

    def generate(past_key_values):
        seen.append(len(past_key_values.words))
        past_key_values.words.append(2)

    found = units.Units(Log(str(tmp_path)), {"repeat": {"at": 1, "times": 3}})
    for _ in range(2):
        found.around("generate", generate, (), {"past_key_values": cache})
    assert seen == [1, 2, 2, 2, 2] and cache.words == [1, 2, 2]


def test_units_are_written_when_a_block_is_over(tmp_path):
    """A process that runs out of time has measured something."""
    turn = {"fixes": ["nothing"], "warm": 4, "block": 4, "pairs": 8, "seed": 1}
    trial = start.Trial({"unit": "step:loop", "folder": str(tmp_path), "fixes": ["nothing"], "turns": [turn]})
    trial.units.on_unit = trial._before_unit
    for _ in range(18):
        trial.units.step("loop")
    assert len(taken(tmp_path).series["step:loop"]) >= 16


def test_evaluation_before_training():
    """bf16 is autocast in a program that trains, whatever its first call is; weights go on being trained."""
    net = torch.nn.Conv2d(2, 2, 1).eval()
    for spec in ("bf16:net", "channels_last:net"):
        fix = fixes.parse(spec)
        fix.is_training, fix.is_shared, fix.is_on = True, True, False
        with torch.no_grad():
            fix.on_module(net)
        fix.switch(True)
        assert net.weight.dtype == torch.float32
        with torch.no_grad():
            net.weight.fill_(7)
        fix.switch(False)
        assert net.weight.eq(7).all()
    assert net(torch.ones(1, 2, 1, 1)).dtype == torch.float32


def test_scaled_gradients(monkeypatch):
    """GradScaler asks the optimizer whether it takes them as they are."""
    fix = fixes.parse("fused_optimizer")
    fix.is_shared, fix.is_on = True, False
    monkeypatch.setattr(torch.optim.AdamW, "__init__", torch.optim.AdamW.__init__)
    fix.classes = lambda optim: [optim.AdamW]
    fix.on_torch(torch)
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.ones(2))], foreach=False)
    seen = []
    for on in (True, False):
        fix.switch(on)
        seen.append(bool(getattr(optimizer, "_step_supports_amp_scaling", None)))
    assert seen == [True, False]
    del optimizer
    gc.collect()
    fix.switch(True)  # it is not kept


def test_the_loader_that_is_used_is_the_one_to_change(data_loaders):
    """Not the first that is made."""
    for is_shared in (False, True):
        fix, notes = fixes.parse("loader:1"), []
        fix.is_shared = is_shared
        fix.note = lambda fix, what, notes=notes, **more: notes.append(more["source"]["line"])
        fix._dataloader(data_loaders)
        data_loaders.DataLoader([1, 2])
        line = _line() + 1
        used = data_loaders.DataLoader([1, 2])
        assert [int(x) for x in used] == [1, 2] and set(notes) == {line}


def test_the_library_that_the_user_calls():
    """Of several, one that calls the other, the outermost is the one whose arguments the user writes."""
    def in_module(name, inner):
        scope = {"__name__": name, "inner": inner}
        exec(compile("def call():\n    return inner()", sys.modules["json"].__file__, "exec"), scope)
        return scope["call"]

    assert places.library() == ""
    made = in_module("torch.utils.data", places.library)
    assert made() == ""
    trainer = in_module("transformers.trainer", in_module("accelerate.data_loader", made))
    assert trainer() == "transformers.trainer"


def _line():
    return sys._getframe(1).f_lineno


@pytest.mark.slow
def test_loaders_that_make_batches_in_their_own_way(data_loaders):
    """As those of torch_geometric: they are left alone, on or off."""
    class Loader(data_loaders.DataLoader):
        def _get_iterator(self):
            return map(str, super()._get_iterator())

    fix, notes = fixes.parse("loader:1"), []
    fix.is_shared = True
    fix.note = lambda fix, what, **more: notes.append(what)
    fix._dataloader(data_loaders)
    assert list(Loader([1, 2])) == ["tensor([1])", "tensor([2])"] and notes == ["skipped"]


@pytest.mark.parametrize("memory,waited,recorded", [
    ([0, 5], [1], 1), ([3, 5], [1, 0], 1), ([5], [None], None)])
def test_several_devices(monkeypatch, memory, waited, recorded):
    """The clock is that of the device with most of the memory, and all that are used are waited for."""
    waits, records = [], []
    module = types.SimpleNamespace(
        device_count=lambda: len(memory), memory_allocated=memory.__getitem__, current_stream=lambda i: i,
        synchronize=lambda which=None: waits.append(which))
    event = types.SimpleNamespace(record=lambda stream=None: records.append(stream))
    found = types.SimpleNamespace(kind="cuda", module=module, capturing=lambda: False, event=lambda: event)
    monkeypatch.setattr(device.device, "find", lambda: found)
    monkeypatch.setattr(device, "_chosen", [])
    monkeypatch.setattr(device, "_plain", {})
    device.Stamp()
    device.synchronize()
    assert waits == waited and records == [recorded]


def test_a_process_for_results_that_takes_too_long():
    """What was measured in turns stays."""
    from strata._try.rounds import Rounds
    late = Trial("", [], timed_out=True)
    driver = types.SimpleNamespace(options=types.SimpleNamespace(blocks=0),
                                   base=types.SimpleNamespace(trials=[1]))
    kind = types.SimpleNamespace(failure=None, trials=[], switched=[types.SimpleNamespace(results=None)])

    def process(kind, units):
        kind.trials.append(late)
        kind.failure = {"reason": "it was still running"}
        return late

    driver.process = process
    Rounds(driver)._results(kind)
    assert kind.failure is None and not kind.trials


@pytest.mark.slow
def test_a_program_that_starts_another(tmp_path):
    """Fixes of modules reach the one that trains."""
    from test_try import by_fix, result, written
    child = written(tmp_path, """
        import torch
        torch.set_num_threads(1)
        model = torch.nn.Linear(64, 64)
        opt = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(90):
            model(torch.ones(64, 64)).sum().backward()
            opt.step()
    """, "child.py")
    prog = written(tmp_path, f"""
        import subprocess, sys
        sys.exit(subprocess.call([sys.executable, {child!r}]))
    """)
    _, found = result(tmp_path, "--no-record", "--blocks", "1", "--fix", "bf16:model", "--",
                      sys.executable, prog)
    assert by_fix(found)["bf16:model"]["failure"] is None, found
    assert by_fix(found)["bf16:model"]["measured"]["pairs"] >= 8
