"""strata bench on a real pipeline: every stage alone from its signature, the script that repeats it,
sums of the breakdown, the check against the full run, variants, and clear errors."""
import gzip
import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tiny_pipeline")

from conftest import PACKAGE, PROGRAM, clean_environment  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
STAGES = ("encode_prompt", "text_encoder_forward", "unet_forward", "scheduler_step", "vae_decode",
          "postprocess")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads of torch that wait for each other on a busy machine take a thousand times as long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    sys.path.insert(0, HERE)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a full run of the pipeline, with a timeline of one call of the model."""
    import strata
    from strata._report.timing import signatures
    from strata._timeline import selected_stages
    folder = tmp_path_factory.mktemp("run")
    pipe = tiny.make()
    strata.reset()
    with strata.annotate_pipeline(pipe):
        for _ in range(2):
            tiny.call(pipe)
    (folder / "timing.json").write_text(json.dumps(strata.report()))
    (folder / "timing_io_signature.json").write_text(json.dumps(signatures()))
    profiler = selected_stages.start_profiler()
    tiny.call(pipe)
    selected_stages.stop_profiler(profiler)
    profiler.export_chrome_trace(str(folder / "whole.json"))
    return folder


@pytest.fixture(scope="module")
def results(run, tmp_path_factory):
    """Every stage alone."""
    import strata.bench
    out = tmp_path_factory.mktemp("bench")
    return {name: strata.bench.stage(str(run), name, "bench_entry:load", iterations=3, warmup=1,
                                     output=str(out))[0] for name in STAGES}


@pytest.fixture(scope="module")
def stateful(tmp_path_factory):
    """A method that only works where its object is, and writes into what it is given."""
    import bench_entry
    import strata
    import strata.bench
    from strata._report.timing import signatures
    folder = tmp_path_factory.mktemp("stateful")
    strata.reset()
    made = bench_entry.Sampler()
    made.step = 1
    with torch.inference_mode():
        made.advance(torch.ones(2, 4), torch.ones(4), 2.0, scale=0.5)
    (folder / "timing_io_signature.json").write_text(json.dumps(signatures()))
    return strata.bench.stage(str(folder), "sample_step", "bench_entry:sampler", iterations=3)[0]


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_runs_alone(results, name):
    r = results[name]
    assert r["kind"] == "stage" and r["stage"] == name and r["device"] == "cpu"
    assert r["measurements"] == 3 and r["times"]["wall"]["median_ms"] > 0
    assert r["mode"] == {"grad": False, "inference": False, "autocast": {}}
    checks = {c["check"]: c for c in r["against"]["checks"]}
    assert checks["outputs"]["same"], checks["outputs"]
    assert checks["time"]["calls"] > 0 and checks["time"]["full_ms"] > 0


def longest(text):
    """The longest line that holds no path."""
    return max(len(line) for line in text.split("\n") if os.sep not in line)


def own_time_ms(events):
    """What operators take themselves: their time less that of the operators right inside them."""
    own, open_ops = 0.0, []
    for e in sorted(events, key=lambda e: (e["tid"], e["ts"], -e["dur"])):
        while open_ops and (open_ops[-1]["tid"] != e["tid"]
                            or open_ops[-1]["ts"] + open_ops[-1]["dur"] <= e["ts"]):
            open_ops.pop()
        own += e["dur"] if not open_ops else 0.0
        open_ops.append(e)
    return own / 1e3


@pytest.mark.parametrize("name", STAGES)
def test_the_breakdown_adds_up(results, name):
    """Every microsecond of an operator is counted once."""
    files = results[name]["files"]
    with open(files["breakdown"], encoding="utf-8") as f:
        found = json.load(f)
    with gzip.open(files["trace"], "rt") as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("cat") == "cpu_op"]
    assert events and found["trace"] == os.path.basename(files["trace"])
    assert found["total_self_cpu_ms"] == pytest.approx(own_time_ms(events), rel=0.01)
    rows = found["top_operators"]
    assert sum(r["self_cpu_ms"] for r in rows) <= found["total_self_cpu_ms"] * 1.0001
    assert rows == sorted(rows, key=lambda r: -r["self_cpu_ms"])
    assert found["num_kernels"] == 0 and found["families"] == []


@pytest.mark.slow
def test_scripts_run_by_themselves(results, stateful, tmp_path):
    """All of them unchanged, with nothing recorded, in one process to load torch only once."""
    made = [*results.values(), stateful]
    scripts = [r["files"]["script"] for r in made]
    runner = tmp_path / "runner.py"
    runner.write_text(
        "import runpy, sys\n"
        "for script in sys.argv[1:]:\n"
        "    sys.argv = [script, '--iters', '2', '--warmup', '1', '--json', '--trace',\n"
        "                script + '.json.gz']\n"
        "    runpy.run_path(script, run_name='__main__')\n")
    env = clean_environment(OMP_NUM_THREADS=1)
    done = subprocess.run([sys.executable, str(runner), *scripts], capture_output=True, text=True,
                          timeout=600, check=False, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [s["stage"] for s in said] == [*STAGES, "sample_step"]
    assert not (tmp_path / "strata_out").exists()
    from strata.bench import timeline
    for s, r in zip(said, made):
        assert s["calls"] == 2 and s["median"]["wall_ms"] > 0
        assert s["recorded"]["wall_ms"] == r["times"]["wall"]["median_ms"]
        ours = timeline.work_of(timeline.events(r["files"]["trace"]), s["stage"])
        theirs = timeline.work_of(timeline.events(r["files"]["script"] + ".json.gz"), s["stage"])
        assert ours.steps and ours.difference(theirs) == ""


def test_against_the_full_run(run, results):
    """The same operators in the same order as in a timeline of the whole pipeline."""
    from strata.bench import against, timeline
    trace = results["unet_forward"]["files"]["trace"]
    whole = timeline.events(str(run / "whole.json"))
    alone = timeline.work_of(timeline.events(trace), "unet_forward").steps
    full = timeline.work_of(whole, "nothing is called so").steps
    # torch's annotations are not in our stages: the sequence is found in that of the whole call
    text, part = ["/".join(s) for s in full], ["/".join(s) for s in alone]
    starts = [i for i in range(len(text) - len(part) + 1) if text[i:i + len(part)] == part]
    assert len(starts) == tiny.STEPS
    found = against.work("unet_forward", trace,
                         against.FullTrace(str(run / "whole.json"), "unet_forward"))
    assert not found["same"] and "operator" in found["detail"] and found["only_full"]
    assert against.work("unet_forward", trace, against.FullTrace(trace, "unet_forward"))["same"]


@pytest.mark.parametrize("options, compared", [
    ((), False), (("--only", "sample_step"), True), (("--level", "timeline", "--ops", "all"), True)])
def test_what_a_run_left_to_compare_with(program, options, compared):
    """A plain `strata run` leaves a trace of its stages: nothing to compare kernels with. One with a
    timeline leaves the operators, on a CPU."""
    import strata.bench
    done = program("""
        import torch, bench_entry
        for _ in range(4):
            with torch.inference_mode():
                made = bench_entry.Sampler()
                made.step = 1
                made.advance(torch.ones(2, 4), torch.ones(4), 2.0, scale=0.5)
    """, command=(PROGRAM, "run", *options, "--", sys.executable),
                   PYTHONPATH=os.pathsep.join([PACKAGE, HERE]))
    assert done.status == 0, done.stderr
    found = strata.bench.stage(str(done.folder()), "sample_step", "bench_entry:sampler", iterations=3)[0]
    checks = {c["check"]: c for c in found["against"]["checks"]}
    assert ("kernels" in checks) == compared, checks
    assert bool(found["against"]["full_trace"]) == compared
    assert not compared or (checks["kernels"]["same"] and checks["kernels"]["alone"] > 2), checks


def test_state_that_makes_a_difference_is_told(run):
    import bench_entry
    from strata.bench import against
    from strata.bench.signatures import SignatureFile
    signature = SignatureFile(str(run)).of_stage("unet_forward")[0]
    pipe = bench_entry.load()
    assert against.state(signature, pipe.unet, []) == []
    pipe.unet.mid_block.register_forward_hook(lambda *a: None)
    pipe.unet.train()
    told = " ".join(against.state(signature, pipe.unet, ["sample"]))
    assert "hooks that the full run did not have" in told and "evaluation mode" in told
    assert "writes into its inputs (sample)" in told
    signature.found["state"]["hooks"] = {"AlignDevicesHook": 3}
    assert "AlignDevicesHook (3, here 0)" in " ".join(against.state(signature, pipe.unet, []))


def test_methods_with_state(stateful):
    """The object is put back to where it was, and so are inputs that the stage writes into."""
    assert stateful["mode"]["inference"] and stateful["target"] == "root.advance (Sampler)"
    assert any("writes into its inputs (x)" in n for n in stateful["against"]["notes"])
    assert stateful["against"]["checks"][0]["same"]


def test_arguments_that_cannot_be_made_up(tmp_path, strata):
    import bench_entry
    import strata.bench
    from strata._report.timing import signatures
    from strata.bench.errors import BenchError
    bench_entry.takes_part(torch.ones(2), bench_entry.part(), other=bench_entry.part())
    (tmp_path / "timing_io_signature.json").write_text(json.dumps(signatures()))
    with pytest.raises(BenchError, match="--arg part=MODULE:NAME"):
        strata.bench.stage(str(tmp_path), "takes_part", "bench_entry:load", iterations=3)
    r = strata.bench.stage(str(tmp_path), "takes_part", "bench_entry:sampler", iterations=3,
                           arguments={"part": "bench_entry:part"})[0]
    assert r["measurements"] == 3 and any("other" in n for n in r["notes"])
    assert "script" not in r["files"]


def test_real_inputs(tmp_path, program):
    """Saved by the run, read back with their values, strides and nesting."""
    done = program("""
        import torch
        import strata

        @strata.stage("mix", save_inputs=True)
        def mix(x, more, *, scale):
            return x.sum()

        mix(torch.arange(6.0).reshape(2, 3).t(), {"a": [torch.ones(2, dtype=torch.bfloat16)]}, scale=3)
        mix(torch.zeros(3, 2), {"a": []}, scale=4)
    """)
    assert done.status == 0, done.stderr
    path = done.folder() / "mix_inputs.safetensors"
    from strata import mock
    from strata._base import safetensors
    from strata._pipeline.single_call import Maker
    tensors, metadata = safetensors.read(str(path))
    saved = json.loads(metadata["strata"])
    assert saved["stage"] == "mix" and set(tensors) == {"x", "more.a.0"}
    maker = Maker()
    maker.stored = tensors
    made = {name: mock.build(d, maker) for name, d in saved["inputs"].items()}
    assert made["x"].tolist() == [[0, 3], [1, 4], [2, 5]] and made["x"].stride() == (1, 3)
    assert made["more"]["a"][0].dtype is torch.bfloat16 and made["scale"] == 3
    from strata.bench.signatures import SignatureFile
    from strata.bench.variants import Choice, Stage
    signature = SignatureFile(str(done.folder())).of_stage("mix")[-1]
    stage = Stage(lambda x, more, scale: x.sum(), signature, Choice(inputs=str(path)))
    assert float(stage.variant("mix").call.try_once()) == 15


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn", "int64", "bool",
                                   "complex64", "float64", "uint8"])
def test_safetensors_both_ways(tmp_path, dtype):
    from strata._base import safetensors
    t = (torch.randn(3, 2) * 4).to(getattr(torch, dtype))
    path = str(tmp_path / "t.safetensors")
    safetensors.write(path, {"a": t, "empty": t[:0]}, {"note": "x"})
    tensors, metadata = safetensors.read(path)
    assert metadata == {"note": "x"} and tensors["empty"].shape == (0, 2)
    assert tensors["a"].dtype is t.dtype
    assert torch.equal(tensors["a"].view(torch.uint8), t.view(torch.uint8))
    library = pytest.importorskip("safetensors.torch")
    if dtype != "complex64":
        assert set(library.load_file(path)) == {"a", "empty"}


@pytest.mark.parametrize("data", [b"", b"\xff" * 16, b"\x02\0\0\0\0\0\0\0[]",
                                  b"\x40\0\0\0\0\0\0\0" + b'{"a":{"dtype":"F32","shape":[9],'
                                  b'"data_offsets":[0,36]}}'.ljust(64)])
def test_safetensors_that_are_none(tmp_path, data):
    from strata._base import safetensors
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        safetensors.read(str(path))


def test_scripts_make_the_same_values(run):
    """What the code of a script makes up is what mock makes up."""
    from strata import mock
    from strata._pipeline.single_call import Maker
    from strata.bench import script
    from strata.bench.signatures import SignatureFile
    found = SignatureFile(str(run))
    for name in STAGES:
        inputs = found.of_stage(name)[0].inputs
        first, second = Maker(3), Maker(3)
        for d in inputs.values():
            ours = mock.build(d, first)
            theirs = eval(script.code(d), {"make": second, "torch": torch})
            if isinstance(ours, torch.Tensor):
                assert torch.equal(ours, theirs) and ours.stride() == theirs.stride()
            else:
                assert type(ours) is type(theirs)


def test_a_script_is_made_of_literals():
    """A signature that someone else wrote: its names stay texts."""
    import ast

    from strata.bench import find, script
    from strata.bench.signatures import Signature
    evil = "a" + '"' * 3 + "\nimport os; os.abort()\n" + '"' * 3 + "'''\n\\"
    value = {"kind": "value", "value": evil}
    signature = Signature(evil, {"inputs": {}, "mode": {evil: evil}}, 1, 1)
    facts = {"file": "profile_x.py", "device": "cpu", "seed": 0, "times": {}, "types": (),
             "stored": None, "inputs": {evil: {"kind": "dict", "items": [[evil, value]]}},
             "state": {evil: value}}
    text = script.text(find.entry("bench_entry:sampler"), find.Target(print, None, "root"),
                       signature, facts)
    tree = ast.parse(text)
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "abort"]
    values = {ast.unparse(n.targets[0]): n.value for n in tree.body if isinstance(n, ast.Assign)}
    assert ast.literal_eval(values["STAGE"]) == evil
    facts["inputs"] = {"x": {"kind": "dataclass", "type": "bench_entry.Box", "fields": {
        "size": value, "size=os.abort()": value}}}
    facts["types"] = ("bench_entry",)
    made = script.text(find.entry("bench_entry:sampler"), find.Target(print, None, "root"),
                       signature, facts)
    assert "Box(size=" in made and "os.abort()=" not in made
    ast.parse(made)


def test_a_signature_chooses_no_method():
    """It may propose one that the entry's objects have; the user decides."""
    import bench_entry
    from strata.bench import find
    from strata.bench.errors import BenchError
    root = bench_entry.sampler()
    with pytest.raises(BenchError, match="--target reset calls it"):
        find.target(root, "not annotated", "bench_entry.Sampler.reset")
    with pytest.raises(BenchError, match="--target PATH"):
        find.target(root, "not annotated", "bench_entry.Sampler.nothing")
    linear = find.target(root, "not annotated", "torch.nn.modules.linear.Linear.forward")
    assert linear.expression == "root.model" and linear.is_call


def test_names_do_not_command_the_terminal(tmp_path, capsys):
    bad = tmp_path / "signature.json"
    bad.write_text(json.dumps({"schema": 1, "stages": {"a\x1b[2J": {"signatures": [
        {"count": 1, "inputs": {"x\x1b]0;t\x07": {"kind": "object", "type": "b.\x1b[31m"}},
         "output": {"kind": "value", "value": None}}]}}}))
    status, said = bench(capsys, bad, "--list")
    assert status == 0 and "a\\x1b[2J" in said.out and "\x1b" not in said.out
    status, said = bench(capsys, bad, "--stage", "\x1b[2J", "--entry", "a:b")
    assert status == 2 and "\x1b" not in said.err


class Replayed(torch.Tensor):
    """A fake of what a CUDA graph returns: the next step overwrites it, and reading it then is an error."""

    step = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        for a in args:
            if isinstance(a, cls) and getattr(a, "made_in", cls.step) != cls.step:
                raise RuntimeError("Error: accessing tensor output of CUDAGraphs that has been overwritten "
                                   "by a subsequent run.")
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))


def test_graphs_overwrite_their_outputs(tmp_path, monkeypatch):
    import strata.bench
    from strata.bench import modes

    def begin_step():
        Replayed.step += 1

    def compile_it(self, module, mode):
        def call(*args, **kwargs):
            made = module._call_impl(*args, **kwargs).detach().as_subclass(Replayed)
            made.made_in = Replayed.step
            return made
        vars(module)[modes.SLOT] = call

    monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", begin_step)
    monkeypatch.setattr(modes.Switch, "_compile", compile_it)
    r = strata.bench.call("bench_entry:linear", modes="eager,compile:reduce-overhead", iterations=3, warmup=1,
                          output=str(tmp_path))
    assert r["comparisons"][0]["outputs"] == {"same_shapes": True, "largest_difference": 0.0,
                                              "relative_difference": 0.0}
    assert Replayed.step >= 3 + 1 + 1  # each call of the mode is a step of its own


def test_modes_and_outputs(tmp_path):
    """One copy of the weights, eager and compiled by turns; the pair goes to strata diff."""
    import bench_entry
    import strata.bench
    from strata.bench import modes
    torch._dynamo.reset()
    plain = modes.Switch._compile
    modes.Switch._compile = lambda self, module, mode: module.compile(backend="eager")
    try:
        r = strata.bench.call("bench_entry:linear", modes="eager,compile", iterations=3, warmup=1,
                              trace=True, output=str(tmp_path))
    finally:
        modes.Switch._compile = plain
        torch._dynamo.reset()
    assert [v["name"] for v in r["variants"]] == ["eager", "compile"]
    assert r["compiled"] == ["Sequential"] and len(r["files"]["traces"]) == 2
    assert r["comparisons"][0]["outputs"]["largest_difference"] == 0
    assert "wall" in r["diffs"][0]["text"]
    assert all(vars(m).get(modes.SLOT) is None for m in bench_entry.LINEAR.modules())
    from strata.bench import screen
    s = screen.Screen()
    screen.compare(s, r)
    assert "  compile: " in s.text() and longest(s.text()) <= 100


def test_repeated_blocks():
    from strata.bench import modes
    blocks = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Linear(2, 2)) for _ in range(3)])
    model = torch.nn.Module()
    model.blocks, model.head = blocks, torch.nn.Linear(2, 2)
    assert modes.repeated_blocks(model) == list(blocks)
    model._repeated_blocks = ["Linear"]
    assert len(modes.repeated_blocks(model)) == 4


def test_another_commit(tmp_path, monkeypatch):
    """Both trees in one process, each with its own modules, also those it loads late."""
    import strata.bench
    tree = tmp_path / "repo"
    (tree / "inner_part").mkdir(parents=True)
    git = ["git", "-C", str(tree), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    (tree / "revised.py").write_text(
        "import torch\n\ndef call():\n    from inner_part import late\n    return late.value()\n")
    late = tree / "inner_part" / "late.py"
    (tree / "inner_part" / "__init__.py").write_text("")
    late.write_text("import torch\n\ndef value():\n    return torch.tensor([1.0])\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    late.write_text("import torch\n\ndef value():\n    return torch.tensor([2.0])\n")
    monkeypatch.chdir(tree)
    monkeypatch.syspath_prepend(str(tree))
    r = strata.bench.call("revised:call", compare="HEAD", iterations=3, warmup=1)
    assert r["variants"][0]["name"] == "as it is" and "HEAD (" in r["variants"][1]["name"]
    assert r["comparisons"][0]["outputs"]["largest_difference"] == 1.0
    listed = subprocess.run([*git, "worktree", "list"], capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1
    assert sys.modules["revised"].call().item() == 2.0


def bench(capsys, *words):
    from strata.bench.command import main
    status = main([str(w) for w in words])
    return status, capsys.readouterr()


@pytest.mark.parametrize("words, status, says", [
    (["--stage", "unet_forwrd", "-e"], 2, "Did you mean 'unet_forward'?"),
    (["--stage", "unet_forward", "--entry", "bench_entry:laod"], 2, "Did you mean 'load'?"),
    (["--stage", "unet_forward", "--entry", "no_such_module:load"], 2, "no module 'no_such_module'"),
    (["--stage", "unet_forward", "--entry", "bench_entry"], 2, "expected MODULE:NAME"),
    (["--stage", "unet_forward", "--entry", "bench_entry:broken"], 3, "the checkpoint is gone"),
    (["--stage", "unet_forward", "--entry", "bench_entry:wants"], 2, "needs arguments"),
    (["--stage", "unet_forward", "--entry", "bench_entry:too_large"], 3, "out of memory"),
    (["--stage", "unet_forward", "--entry", "bench_entry:sampler"], 2, "--target PATH"),
    (["--stage", "unet_forward", "--entry", "bench_entry:load", "--signature", "7"], 2, "1 to 1"),
    (["--stage", "unet_forward", "--entry", "bench_entry:load", "--target", "unet.nothing"], 2,
     "nothing"),
    (["--stage", "unet_forward"], 2, "--entry MODULE:NAME"),
    ([], 2, "--stage NAME"),
    (["--stage", "unet_forward", "--entry", "bench_entry:load", "--modes", "fast"], 2, "compile:MODE"),
    (["--stage", "unet_forward", "--entry", "bench_entry:load", "--inputs", "none.safetensors"], 3,
     "save_inputs=True"),
    (["--stage", "vae_decode", "--entry", "bench_entry:load", "--device", "cuda:9"], 3, "cuda"),
])
def test_errors_say_what_to_do(run, capsys, words, status, says):
    words = ["--entry" if w == "-e" else w for w in words] + (["x:y"] if words[-1:] == ["-e"] else [])
    found, said = bench(capsys, str(run), *words)
    assert found == status and says in said.err, said.err
    assert said.out == "" and "Traceback" not in said.err


def test_files_that_are_no_signatures(tmp_path, capsys):
    bad = tmp_path / "signature.json"
    for content, says in (("{", "not JSON"), ("[]", "not a signature file"),
                          ('{"stages": {}}', "version None"),
                          ('{"schema": 9, "stages": {}}', "version 9")):
        bad.write_text(content)
        status, said = bench(capsys, bad, "--stage", "x", "--entry", "a:b")
        assert status == 3 and says in said.err, said.err
    status, said = bench(capsys, tmp_path / "nowhere.json", "--list")
    assert status == 3 and "strata run" in said.err


def test_pipes_in_the_place_of_files(tmp_path, capsys):
    for name in ("timing_io_signature.json", "timing.json", "environment.json", "trace.json",
                 "trace.json.gz"):
        os.mkfifo(tmp_path / name)
    status, said = bench(capsys, tmp_path, "--list")
    assert status == 3 and "not a file" in said.err, said.err
    from strata.bench import against
    assert against.full_trace(str(tmp_path), "x") is None
    assert against.duration(str(tmp_path), "x", {}, 3.0) is None
    assert against.machine(str(tmp_path), "cpu") == []


def test_no_torch(run, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    status, said = bench(capsys, run, "--stage", "unet_forward", "--entry", "bench_entry:load")
    assert status == 3 and "has no torch" in said.err and "--python" in said.err


def test_modes_as_recorded(strata):
    from strata._pipeline import single_call
    from strata._report.timing import signatures

    @strata.stage("cast")
    def cast(x):
        return x

    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        cast(torch.ones(1))
    cast(torch.ones(1))
    under, plain = (s["mode"] for s in signatures()["stages"]["cast"]["signatures"])
    assert under == {"grad": False, "inference": False, "autocast": {"cpu": "bfloat16"}}
    assert plain == {"grad": True, "inference": False, "autocast": {}}
    with single_call.modes(under):
        assert torch.is_autocast_enabled("cpu") and not torch.is_grad_enabled()
        assert torch.get_autocast_dtype("cpu") is torch.bfloat16
    with single_call.modes({**plain, "inference": True}):
        assert torch.is_inference_mode_enabled()


def test_several_signatures(tmp_path, strata, capsys):
    """The most frequent one by itself; any or all of them when asked."""
    import bench_entry
    import strata.bench
    from strata._report.timing import signatures
    with strata.watch(bench_entry.LINEAR, name="linear"):
        for rows in (2, 3, 3):
            bench_entry.LINEAR(torch.ones(rows, 8))
    (tmp_path / "timing_io_signature.json").write_text(json.dumps(signatures()))
    found = strata.bench.stage(str(tmp_path), "linear", "bench_entry:module", iterations=3,
                               signature="all", target="[0]")
    assert [r["signature"]["count"] for r in found] == [2, 1]
    assert len({r["files"]["script"] for r in found}) == 2  # none overwrites another
    one = strata.bench.stage(str(tmp_path), "linear", "bench_entry:module", iterations=3)[0]
    assert one["signature"] == {"index": 1, "of": 2, "count": 2} and one["target"].startswith("root ")


def test_out_of_memory_in_the_stage(run, monkeypatch, capsys):
    from diffusers import AutoencoderKL

    def decode(self, *args, **kwargs):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB")

    monkeypatch.setattr(AutoencoderKL, "decode", decode)
    status, said = bench(capsys, run, "--stage", "vae_decode", "--entry", "bench_entry:load")
    assert status == 3 and "out of memory in vae_decode" in said.err and "--device cpu" in said.err


def test_lists(run, capsys):
    status, said = bench(capsys, run, "--list")
    assert status == 0 and all(name in said.out for name in STAGES)
    assert longest(said.out) <= 100
    status, said = bench(capsys, run, "--list", "--json")
    assert {s["stage"] for s in json.loads(said.out)["stages"]} == set(STAGES)


def test_keys_are_documented(results):
    """Every key of a result stands on the page of formats."""
    page = open(os.path.join(HERE, "..", "..", "docs", "format", "json.md"), encoding="utf-8").read()

    def keys(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                yield from keys(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from keys(inner)

    free = {"mode", "clocks"}  # clocks are named by what they are of
    for key in set(keys({k: v for k, v in results["unet_forward"].items() if k not in free})):
        assert f"`{key}`" in page or f"`{key}[]`" in page, key


def test_long_lines_are_broken_below_their_beginning():
    """All that follows begins in the same column; what has no space is left alone."""
    from strata.bench.screen import wrapped
    words = "  " + "word " * 60
    lines = wrapped(words.rstrip(), 80)
    assert len(lines) > 3 and all(len(line) <= 80 for line in lines)
    assert [len(line) - len(line.lstrip()) for line in lines] == [2] + [4] * (len(lines) - 1)
    assert " ".join(" ".join(lines).split()) == words.strip()
    assert wrapped("x" * 200, 80) == ["x" * 200] and wrapped("", 80) == [""]


def test_the_screen(results):
    from strata.bench import screen
    for r in results.values():
        s = screen.Screen()
        screen.stage(s, r)
        text = s.text()
        assert r["stage"] in text and "next: strata report" in text
        assert longest(text) <= 100


def test_the_command(run, tmp_path):
    """Through the program: options reach Python, standard output is JSON, a wrong word is told."""
    env = clean_environment(OMP_NUM_THREADS=1) | {"PYTHONPATH": HERE}
    done = subprocess.run(
        [PROGRAM, "bench", str(run), "-s", "scheduler_step", "-e", "bench_entry:load", "-n", "3",
         "--json", "-o", str(tmp_path / "o"), "--python", sys.executable],
        capture_output=True, text=True, timeout=300, check=False, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    r = json.loads(done.stdout)
    assert r["target"] == "root.scheduler.step (DDIMScheduler)" and r["measurements"] == 3
    assert sorted(os.listdir(tmp_path / "o")) == [
        "profile_scheduler_step.py", "scheduler_step_breakdown.json", "scheduler_step_trace.json.gz"]
    assert not (tmp_path / "strata_out").exists()  # nothing is recorded while it is measured
    done = subprocess.run([PROGRAM, "bench", "--entry", "a:b", "--python", "/no/such/python"],
                          capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 2 and "--python" in done.stderr


def test_modes_report_progress(capsys, monkeypatch, tmp_path):
    """Compiling takes minutes: the command says what it is at, on standard error; functions say nothing."""
    import strata.bench
    from strata.bench import modes

    def compile_it(self, module, mode):
        vars(module)[modes.SLOT] = module._call_impl

    monkeypatch.setattr(modes.Switch, "_compile", compile_it)
    status, said = bench(capsys, "--entry", "bench_entry:linear", "--modes", "eager,compile",
                         "--iterations", 3, "--warmup", 1, "--output", tmp_path, "--json")
    assert status == 0 and [x for x in said.err.splitlines() if x.startswith("strata bench: ")] == [
        "strata bench: warming eager up", "strata bench: warming compile up, which compiles first",
        "strata bench: measuring 2 alternately, for at most 30 s"]
    strata.bench.call("bench_entry:linear", modes="eager,compile", iterations=3, warmup=1,
                      output=str(tmp_path))
    assert "strata bench" not in capsys.readouterr().err
