"""A real pipeline, annotated from outside: every stage with its count, times that hold against
another clock, signatures that rebuild valid inputs, and nothing changed in what it computes."""
import copy
import os
import pickle
import time

import numpy
import pytest

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tiny_pipeline")

PARTS = {"encode_prompt": 1, "encode_prompt/text_encoder_forward": 2, "unet_forward": tiny.STEPS,
         "scheduler_step": tiny.STEPS, "vae_decode": 1, "postprocess": 1}
WANTED = {"pipeline_call": 1} | {f"pipeline_call/{path}": n for path, n in PARTS.items()}


@pytest.fixture(scope="module")
def pipe():
    made = tiny.make()
    tiny.call(made)  # warm: what is measured later is not the first call ever
    return made


def counts(strata):
    return {path: s["count"] for path, s in strata.report()["stages"].items()}


def inner(stages, name):
    """The stage inside the pipeline's call."""
    return stages["pipeline_call/" + name]


def test_every_stage_is_there(strata, pipe):
    with strata.annotate_pipeline(pipe):
        tiny.call(pipe)
    assert counts(strata) == WANTED


def test_results_do_not_change(strata, pipe):
    plain = tiny.call(pipe)
    with strata.annotate_pipeline(pipe):
        annotated = tiny.call(pipe)
    assert numpy.array_equal(plain, annotated)


def test_undone_leaves_nothing_behind(strata, pipe):
    def state():
        parts = (pipe, pipe.unet, pipe.vae, pipe.scheduler, pipe.text_encoder, pipe.image_processor)
        return [set(vars(part)) for part in parts]

    before, plain_compile = state(), torch.nn.Module.compile
    handle = strata.annotate_pipeline(pipe)
    assert state() != before
    handle.undo()
    handle.undo()
    assert state() == before
    assert torch.nn.Module.compile is plain_compile
    tiny.call(pipe)
    assert counts(strata) == {}


def test_times_hold_against_another_clock(strata, pipe):
    """Each stage takes at least what is measured inside it, and at most that plus all the time of
    the call that no stage accounts for."""
    inside = dict.fromkeys(("unet_forward", "vae_decode", "scheduler_step"), 0.0)

    def measured(fn, name):
        def wrapper(*args, **kwargs):
            began = time.perf_counter()
            try:
                return fn(*args, **kwargs)
            finally:
                inside[name] += time.perf_counter() - began
        return wrapper

    plain = pipe.unet.forward, pipe.vae.decode, pipe.scheduler.step
    pipe.unet.forward = measured(plain[0], "unet_forward")
    pipe.vae.decode = measured(plain[1], "vae_decode")
    pipe.scheduler.step = measured(plain[2], "scheduler_step")
    handle = strata.annotate_pipeline(pipe)
    try:
        began = time.perf_counter()
        tiny.call(pipe)
        wall = time.perf_counter() - began
    finally:
        handle.undo()
        del pipe.unet.forward, pipe.vae.decode, pipe.scheduler.step
    stages = strata.report()["stages"]
    spare = wall - sum(inside.values())
    for name, seconds in inside.items():
        found = inner(stages, name)["duration_ms"] / 1e3
        assert seconds * 0.999 <= found <= (seconds + spare) * 1.001, name
    assert sum(s["duration_ms"] for p, s in stages.items() if "/" not in p) / 1e3 <= wall * 1.001


def test_signatures_rebuild_valid_inputs(strata, pipe):
    import strata.mock
    from strata._report.timing import signatures
    with strata.annotate_pipeline(pipe):
        tiny.call(pipe)
    found = signatures()["stages"]
    parts = {"unet_forward": pipe.unet, "vae_decode": pipe.vae.decode,
             "scheduler_step": pipe.scheduler.step,
             "encode_prompt/text_encoder_forward": pipe.text_encoder}
    for path, part in parts.items():
        (signature,) = inner(found, path)["signatures"]
        assert signature["count"] == PARTS[path]
        inputs = strata.mock.inputs(signature)
        with torch.no_grad():
            again = part(**inputs)
        assert shapes(again) == shapes_of(signature["output"]), path
    ids = inner(found, "encode_prompt/text_encoder_forward")["signatures"][0]["inputs"]["input_ids"]
    low, high = ids["range"]
    assert 0 <= low <= high < pipe.text_encoder.config.vocab_size
    made = strata.mock.inputs({"inputs": {"ids": ids}}, seed=3)["ids"]
    assert made.min() >= low and made.max() <= high and made.dtype is torch.int64


def shapes(value):
    """Shapes of all tensors in a result, in order."""
    if isinstance(value, torch.Tensor):
        return [list(value.shape)]
    if isinstance(value, dict):
        return [s for v in value.values() for s in shapes(v)]
    if isinstance(value, (list, tuple)):
        return [s for v in value for s in shapes(v)]
    return []


def shapes_of(d):
    """The same of a description."""
    if d["kind"] == "tensor":
        return [d["shape"]]
    inner = d.get("items") or list(d.get("fields", {}).values())
    if d["kind"] == "dict":
        inner = [v for _, v in inner]
    return [s for v in inner for s in shapes_of(v)]


def test_instances_are_independent(strata, pipe):
    other = tiny.make()
    with strata.annotate_pipeline(other):
        tiny.call(pipe)
        assert counts(strata) == {}
        tiny.call(other)
    assert counts(strata) == WANTED


def test_shared_components_are_stages_once(strata, pipe):
    twin = type(pipe)(**pipe.components, requires_safety_checker=False)
    twin.set_progress_bar_config(disable=True)
    first, second = strata.annotate_pipeline(pipe), strata.annotate_pipeline(twin)
    tiny.call(twin)
    assert inner(counts(strata), "unet_forward") == tiny.STEPS
    first.undo()
    strata.reset()
    tiny.call(twin)  # still annotated by its own handle
    assert inner(counts(strata), "unet_forward") == tiny.STEPS
    second.undo()
    strata.reset()
    tiny.call(twin)
    assert counts(strata) == {}


def test_copies_are_plain(strata, pipe):
    with strata.annotate_pipeline(pipe):
        scheduler = copy.deepcopy(pipe.scheduler)
        scheduler.set_timesteps(2)
        sample = torch.zeros(1, 4, 2, 2)
        scheduler.step(sample, scheduler.timesteps[0], sample)
        assert counts(strata) == {}  # and the copy stepped itself, not the original
        assert scheduler.num_inference_steps == 2
        assert pipe.scheduler.num_inference_steps == tiny.STEPS
        again = pickle.loads(pickle.dumps(pipe.scheduler))
        again.set_timesteps(5)
        assert pipe.scheduler.num_inference_steps == tiny.STEPS
        unet = copy.deepcopy(pipe.unet)
        unet(torch.zeros(1, 4, 8, 8), 1, torch.zeros(1, 16, 8))
        assert counts(strata) == {}


def test_what_is_done_around_the_forward_is_inside_the_stage(strata, pipe):
    """Offloading moves weights in hooks around forward: the cost people look for."""
    hooks = pytest.importorskip("accelerate.hooks")

    class Slow(hooks.ModelHook):
        spent = 0.0

        def pre_forward(self, module, *args, **kwargs):
            began = time.perf_counter()
            time.sleep(0.01)
            Slow.spent += time.perf_counter() - began
            return args, kwargs

    handle = strata.annotate_pipeline(pipe)
    hooks.add_hook_to_module(pipe.unet, Slow())  # after the annotation, and still inside it
    try:
        tiny.call(pipe)
    finally:
        hooks.remove_hook_from_module(pipe.unet)
        handle.undo()
    assert inner(strata.report()["stages"], "unet_forward")["self_ms"] / 1e3 >= Slow.spent > 0


@pytest.mark.parametrize("when", ["before", "after", "replaced"])
def test_labels_survive_full_compile(strata, when):
    torch._dynamo.reset()
    pipe = tiny.make()
    if when == "before":
        pipe.unet.compile(backend="eager", fullgraph=True)
    handle = strata.annotate_pipeline(pipe)
    if when == "after":
        pipe.unet.compile(backend="eager", fullgraph=True)
    if when == "replaced":
        pipe.unet = torch.compile(pipe.unet, backend="eager", fullgraph=True)
    tiny.call(pipe)
    assert counts(strata) == WANTED
    handle.undo()
    strata.reset()
    tiny.call(pipe)
    assert counts(strata) == {}
    torch._dynamo.reset()


def test_stages_inside_compiled_code_do_not_break_its_graph(strata):
    @strata.stage("decorated")
    def double(x):
        return x * 2

    @torch.compile(backend="eager", fullgraph=True)
    def compiled(x):
        with strata.stage("inside"):
            x = double(x) + 1
        return x

    with strata.stage("around"):
        assert compiled(torch.ones(2)).tolist() == [3.0, 3.0]
    found = counts(strata)
    assert found["around"] == 1
    assert double(torch.ones(1)).item() == 2.0
    assert counts(strata)["decorated"] == 1
    torch._dynamo.reset()


def test_other_ways_to_take_a_model_apart(strata, recwarn):
    """Tracing, exporting and saving a watched model work as they do without us, and silently."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    x = torch.ones(1, 4)
    with strata.watch(model, submodules="*"):
        recwarn.clear()
        traced = torch.jit.trace(model, x)
        exported = torch.export.export(model, (x,)).module()
        graph = torch.fx.symbolic_trace(model)
        package = os.path.dirname(strata.__file__) + os.sep
        ours = [str(w.message) for w in recwarn if w.filename.startswith(package)]
        assert ours == []
        for other in (traced, exported, graph):
            assert torch.equal(other(x), model(x))
        again = pickle.loads(pickle.dumps(model))
        before = counts(strata)
        assert torch.equal(again(x), model(x))
        assert counts(strata)["Sequential"] == before["Sequential"] + 1  # the copy is plain


def test_watch_modules_and_objects(strata):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))

    class Loader:
        def fetch(self, n):
            return torch.ones(n, 4)

    loader = Loader()
    with strata.watch(model, name="model", submodules=["0", "2"]), strata.watch(loader, "fetch"):
        model(loader.fetch(3))
    assert counts(strata) == {"Loader.fetch": 1, "model": 1, "model/model.0": 1, "model/model.2": 1}
    model(loader.fetch(3))
    assert counts(strata)["model"] == 1
    assert vars(loader) == {}
    assert str(strata.watch(loader)) == str(strata.watch(loader, "nothing")) == "<strata: nothing marked>"


def test_started_by_strata_run(program, tmp_path):
    """The program does not know of strata at all."""
    import os
    import subprocess
    import sys

    from conftest import PROGRAM, clean_environment
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        [PROGRAM, "run", "-o", str(tmp_path), "--", sys.executable,
         os.path.join(here, "tiny_pipeline.py")],
        capture_output=True, text=True, timeout=600, check=False,
        env=clean_environment(PYTHONPATH=None) | {"PYTHONPATH": here})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(1, 16, 16, 3)"
    folder = next((tmp_path / "tiny_pipeline").iterdir())
    import json
    stages = json.loads((folder / "timing.json").read_text())["stages"]
    assert {p: s["count"] for p, s in stages.items()} == WANTED  # the paths that annotate_pipeline gives
    assert "vae_decode" in done.stderr
