"""Ranges that nobody wrote (strata/_timeline/derived_ranges.py): training loops, generate and pipelines
of the real packages as their timelines show them, without a line of theirs for us; and that nothing else
changes by it."""
import collections
import json
import subprocess
import sys
import textwrap

import pytest

from conftest import PROGRAM

TRAINING = """
    import gc, os, sys, torch, strata
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Sequential(nn.Linear(256, 2048), nn.ReLU()), nn.Linear(2048, 256)

        def forward(self, x):
            return self.head(self.body(x))

    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(96, 256), torch.randint(4, (96,)))
    plain = nn.Module.__call__, torch.autograd._engine_run_backward, gc.collect, list(gc.callbacks)
"""



def training(text):
    """A program that goes on from there."""
    return textwrap.dedent(TRAINING) + textwrap.dedent(text)


LOOP = training("""
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    workers = int(os.environ.get("WORKERS", "0"))

    with strata.timeline():
        for x, y in DataLoader(data, batch_size=32, num_workers=workers):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    now = nn.Module.__call__, torch.autograd._engine_run_backward, gc.collect, list(gc.callbacks)
    assert now == plain or os.environ.get("STRATA_LEVEL") == "timeline"
""")

STEP = ["data", "zero_grad", "Net", "Net > Sequential", "Net > Linear", "backward", "step"]
SHORT = {"enumerate(DataLoader)": "data", "Optimizer.zero_grad": "zero_grad", "Optimizer.step": "step"}


def exported(folder, tmp_path):
    path = tmp_path / "exported.json"
    subprocess.run([PROGRAM, "export", str(folder), "-o", str(path)], check=True, capture_output=True,
                   timeout=120)
    return [e for e in json.loads(path.read_text())["traceEvents"] if e.get("ph") == "X"]


def ranges(folder, tmp_path, worker=False):
    """Paths of ranges in order, each thread after the other, of the program itself or its workers."""
    rows = [e for e in exported(folder, tmp_path) if e["cat"] in ("user_annotation", "strata_derived")
            and (e["name"] == "DataLoader worker") == worker]
    rows.sort(key=lambda e: (e["pid"], e["tid"], e["ts"], -e["dur"]))
    paths, around = [], []
    for e in rows:
        while around and (around[-1][0]["tid"] != e["tid"]
                          or e["ts"] >= around[-1][0]["ts"] + around[-1][0]["dur"]):
            around.pop()
        name = SHORT.get(e["name"].split("#")[0], e["name"])
        around.append((e, name))
        paths.append(" > ".join(name for _, name in around))
    return paths


def test_a_training_step_reads_data_forward_backward_optimizer(program, tmp_path):
    run = program(LOOP)
    assert run.status == 0, run.stderr
    assert ranges(run.folder(), tmp_path) == ["DataLoader.__iter__", *STEP * 3, "data"]


def test_the_same_under_strata_run(program, tmp_path):
    run = program(LOOP, command=(PROGRAM, "run", "-o", str(tmp_path / "out"), "--level", "timeline", "--",
                                 sys.executable))
    assert run.status == 0, run.stderr
    found = [path for path in ranges(run.folder(), tmp_path) if not path.startswith("aten")]
    assert found == ["DataLoader.__iter__", *STEP * 3, "data"]


def test_batches_of_workers_are_in_their_processes(program, tmp_path):
    run = program(LOOP, WORKERS="2")
    assert run.status == 0, run.stderr
    assert ranges(run.folder(), tmp_path, worker=True) == ["DataLoader worker"] * 3
    pids = collections.Counter(e["pid"] for e in exported(run.folder(), tmp_path)
                               if e["name"] == "DataLoader worker")
    assert sorted(pids.values()) == [1, 2]
    assert ranges(run.folder(), tmp_path) == ["DataLoader.__iter__", *STEP * 3, "data"]


@pytest.mark.slow
def test_off_is_off(program, tmp_path):
    run = program(LOOP, STRATA_TEST_DERIVED="off")
    assert run.status == 0, run.stderr
    assert set(ranges(run.folder(), tmp_path)) == {"data", "zero_grad", "step"}  # torch's own
    absent = "assert 'strata._timeline.derived_ranges' not in sys.modules"
    assert program(LOOP + absent, STRATA="off").status == 0


def test_pauses_of_the_garbage_collector(program, tmp_path):
    run = program("""
        import gc, strata
        class Knot:
            def __init__(self):
                self.me = self
        with strata.timeline():
            gc.collect()
            knots = [Knot() for _ in range(200000)]
            del knots
            gc.collect()
        gc.collect()
        assert gc.callbacks == []
    """)
    assert run.status == 0, run.stderr
    rows = [e for e in exported(run.folder(), tmp_path) if e["name"].startswith("Python GC")]
    assert {e["cat"] for e in rows} == {"python_function"}
    asked = [e for e in rows if e["name"] == "Python GC (gc.collect)"]
    assert len(asked) == 2 and asked[1]["args"]["collected"] >= 200000 > asked[0]["args"]["collected"]
    by_itself = [e for e in rows if e not in asked]
    assert by_itself and all(e["name"] == f"Python GC (generation {e['args']['generation']})"
                             for e in by_itself)


SLEEPS = """
    import time, torch
    torch.set_num_threads(1)
    net, x = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()).eval(), torch.ones(64, 512)
    with torch.no_grad():
        for _ in range(400):  # long calls: inner modules of short ones are left out
            net(x)
            time.sleep(0.002)
"""


def test_functions_of_modules_have_only_their_time(program, tmp_path):
    """The thread reads its stack at operators, so nearly always in a module: what it does else has to be
    the loop's, however few of the moments are in it."""
    run = program(SLEEPS, command=(PROGRAM, "run", "-o", str(tmp_path / "out"), "--level", "timeline", "--",
                                   sys.executable))
    assert run.status == 0, run.stderr
    rows = exported(run.folder(), tmp_path)
    calls = [r for r in rows if r["name"] == "Linear" and r["cat"] == "strata_derived"]
    inside = [r for r in rows if "linear.py(" in r["name"] and r["name"].endswith(": forward")]
    assert len(calls) == 400 and inside
    assert sum(r["dur"] for r in inside) <= 1.01 * sum(r["dur"] for r in calls)


def test_torch_compile_does_not_see_us(program):
    """No break, no graph more than without us, and what is compiled meanwhile stays valid afterwards."""
    run = program(training("""
        from torch._dynamo.utils import counters
        graphs = []

        def backend(graph, inputs):
            graphs.append(graph)
            return graph.forward

        x, before, inside = torch.randn(2, 256), Net(), Net()
        compiled = [torch.compile(before, backend=backend)]
        compiled[0](x)
        with strata.timeline():
            compiled[0](x)
            assert len(graphs) == 1
            compiled.append(torch.compile(inside, backend=backend))

            @torch.compile(backend=backend)
            def step(x):
                return inside(x).sum()

            compiled.append(step)
            for f in compiled:
                f(x)
            step(x).backward()
            torch.fx.symbolic_trace(inside)
            torch.jit.script(inside)
            torch.jit.trace(inside, (x,))
            n = len(graphs)
        for f in compiled:
            f(x)
        assert n == 3 and len(graphs) == n and not counters["graph_break"], (n, counters["graph_break"])
    """))
    assert run.status == 0, run.stderr


@pytest.mark.slow
def test_compiling_and_what_was_compiled(program, tmp_path):
    run = program(training("""
        @torch.compile(dynamic=False)
        def pool(x):
            return torch.softmax(x, -1).sum(0) * 2

        with strata.timeline():
            for n in (3, 4, 4, 4):
                pool(torch.randn(n, 8))
    """))
    if "C++ compiler" in run.stderr or "No such file" in run.stderr:
        pytest.skip("inductor has no compiler here")
    assert run.status == 0, run.stderr
    found = collections.Counter(path.split(" > ")[-1] for path in ranges(run.folder(), tmp_path))
    assert [found[f"TorchDynamo compile: pool 0/{n}"] for n in range(3)] == [1, 1, 0]
    assert found["## Call CompiledFxGraph ##"] == 4


def test_a_module_that_fails_and_one_of_many_small_ones(program, tmp_path):
    run = program(training("""
        from strata._base.extension import core

        class Bad(nn.Module):
            def forward(self, x):
                raise ValueError("as told")

        class Many(nn.Sequential):
            pass

        many = Many(*(nn.Identity() for _ in range(300)))
        with strata.timeline():
            for module in (Bad(), nn.Sequential(Bad()), torch.compile(nn.Identity(), backend="eager")):
                try:
                    module(1)
                except ValueError:
                    pass
            for _ in range(3):
                many(1)
            assert not core.inside_module()
    """))
    assert run.status == 0, run.stderr
    found = collections.Counter(ranges(run.folder(), tmp_path))
    assert found["Bad"] == 1 and found["Sequential > Bad"] == 1 and found["Identity"] == 1
    assert found["Many"] == 3 and 0 < found["Many > Identity"] <= 64  # of the first call


def test_modules_that_are_stages_are_no_ranges(program, tmp_path):
    run = program(training("""
        model = Net()
        with strata.watch(model, name="mine"), strata.timeline():
            model(torch.randn(2, 256))
    """))
    assert run.status == 0, run.stderr
    assert ranges(run.folder(), tmp_path) == ["mine", "mine > Sequential", "mine > Linear"]


def test_others_who_replace_functions_are_respected(program):
    run = program(training("""
        ours = []
        with strata.timeline():
            ours.append(nn.Module.__call__)
            def theirs(self, *args):
                return ours[0](self, *args)
            nn.Module.__call__ = theirs
        assert nn.Module.__call__ is theirs
        assert Net()(torch.randn(1, 256)).shape == (1, 256)  # and ours goes on working for them
        nn.Module.__call__ = plain[0]
        with strata.timeline():
            assert nn.Module.__call__ is ours[0]
        assert nn.Module.__call__ is plain[0]
    """))
    assert run.status == 0, run.stderr


def test_a_call_that_is_not_torchs_own_is_marked_too(program, tmp_path):
    """Somebody has replaced it before us."""
    run = program(training("""
        torchs, seen = nn.Module.__call__, []

        def theirs(self, *args, **kwargs):
            seen.append(type(self).__name__)
            return torchs(self, *args, **kwargs)

        nn.Module.__call__ = theirs
        with strata.timeline():
            assert Net()(torch.randn(1, 256)).shape == (1, 256)
        assert nn.Module.__call__ is theirs
        assert seen == ["Net", "Sequential", "Linear", "ReLU", "Linear"], seen
    """))
    assert run.status == 0, run.stderr
    assert collections.Counter(ranges(run.folder(), tmp_path))["Net > Sequential"] == 1


def test_threads_and_forks(program, tmp_path):
    run = program(training("""
        import threading, time
        model, x = Net(), torch.randn(2, 256)
        began = threading.Barrier(4)

        def work():
            model(x)  # takes locks of torch that a child must not inherit
            began.wait()
            for _ in range(49):
                model(x)

        with strata.timeline():
            threads = [threading.Thread(target=work) for _ in range(3)]
            for t in threads:
                t.start()
            began.wait()
            child = os.fork()
            if not child:
                model(x)
                with strata.timeline():
                    pass
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            for t in threads:
                t.join()
            model(x)
        print("over")
    """))
    assert run.status == 0 and run.stdout == "over\n", run.stderr
    assert collections.Counter(ranges(run.folder(), tmp_path))["Net"] == 151


def test_generate_of_transformers(program, tmp_path):
    pytest.importorskip("transformers")
    run = program("""
        import torch, strata
        from transformers import LlamaConfig, LlamaForCausalLM
        model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64,
                                             num_hidden_layers=2, num_attention_heads=4)).eval()
        with strata.timeline():
            model.generate(torch.ones(1, 5, dtype=torch.long), max_new_tokens=4, min_new_tokens=4)
        assert not hasattr(type(model).generate, "strata_derived")
    """)
    assert run.status == 0, run.stderr
    model = "generate > LlamaForCausalLM"
    found = ranges(run.folder(), tmp_path)
    assert found.count("generate") == 1 and found.count(model) == 4
    assert found.count(f"{model} > LlamaModel") == 4 and found.count(f"{model} > Linear") == 4


def test_a_pipeline_of_diffusers(program, tmp_path):
    pytest.importorskip("diffusers")
    run = program("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import strata, tiny_pipeline
        pipe = tiny_pipeline.make()
        with strata.timeline():
            tiny_pipeline.call(pipe)
        assert not hasattr(type(pipe).__call__, "strata_derived")
    """, __file__.rsplit("/", 1)[0])
    assert run.status == 0, run.stderr
    found, pipe = ranges(run.folder(), tmp_path), "StableDiffusionPipeline"
    assert found[0] == pipe and found.count(pipe) == 1
    assert found.count(f"{pipe} > tokenizer") >= 2  # what is wanted, and what is not
    assert found.count(f"{pipe} > CLIPTextModel") == 2
    assert found.count(f"{pipe} > UNet2DConditionModel") == 3


def test_a_loop_of_accelerate(program, tmp_path):
    pytest.importorskip("accelerate")
    run = program(training("""
        from accelerate import Accelerator
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        accelerator = Accelerator(cpu=True)
        model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=32))
        with strata.timeline():
            for x, y in loader:
                optimizer.zero_grad()
                accelerator.backward(nn.functional.cross_entropy(model(x), y))
                optimizer.step()
    """))
    assert run.status == 0, run.stderr
    found = collections.Counter(ranges(run.folder(), tmp_path))
    assert all(found[part] == 3 for part in ("Net", "backward", "step", "zero_grad"))
    assert found["data"] >= 3


def test_a_loop_of_lightning(program, tmp_path):
    pytest.importorskip("pytorch_lightning")
    run = program(training("""
        import logging, warnings
        import pytorch_lightning as lightning
        warnings.simplefilter("ignore")
        logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)

        class Lit(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = Net()

            def training_step(self, batch, _):
                x, y = batch
                return nn.functional.cross_entropy(self.net(x), y)

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False)
        with strata.timeline():
            trainer.fit(Lit(), DataLoader(data, batch_size=32))
    """))
    assert run.status == 0, run.stderr
    found = collections.Counter(path.split(" > ")[-1] for path in ranges(run.folder(), tmp_path))
    assert all(found[part] == 3 for part in ("Net", "backward", "step")), found
    assert found["data"] >= 3
