"""strata try, from the command to the report: programs without torch for what the driver does, and real
torch on the CPU for what happens inside a program."""
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from conftest import PACKAGE, PROGRAM, clean_environment
from strata._try import pauses

PYTHON = sys.executable


def written(folder, text, name="prog.py"):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return str(path)


def environment(folder, **more):
    return clean_environment(XDG_CACHE_HOME=str(folder / "cache"), STRATA_OUT=str(folder / "out"),
                             OMP_NUM_THREADS=1, **more)


def run(folder, *words, **more):
    return subprocess.run([PROGRAM, "try", "--python", PYTHON, *words], cwd=folder, text=True,
                          capture_output=True, env=environment(folder, **more), timeout=600)


def result(folder, *words, **more):
    done = run(folder, "--json", *words, **more)
    try:
        return done, json.loads(done.stdout)
    except ValueError:
        raise AssertionError(done.stdout + done.stderr) from None


def evidence(folder):
    """What the trials left behind, for a test that fails."""
    return "\n".join(f"{p.relative_to(folder)}: {p.read_text(errors='replace')[-3000:]}" for p in sorted(
        folder.rglob("*")) if p.name in ("plan.json", "stderr.txt") or p.suffix == ".jsonl")


def by_fix(found):
    return {f["fix"]: f for f in [*found["fixes"], *found["combinations"]]}


@pytest.mark.parametrize("other", ["link", "copy"])
def test_a_program_is_entered_once(tmp_path, other):
    """Whatever names our folder has on the path, and if another strata started us: two of us would
    count every call twice."""
    ours = os.path.join(PACKAGE, "strata", "_inject")
    if other == "link":
        (tmp_path / "link").symlink_to(PACKAGE)
        theirs = str(tmp_path / "link" / "strata" / "_inject")
    else:
        theirs = shutil.copytree(ours, tmp_path / "theirs" / "strata" / "_inject")
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"folder": str(tmp_path), "unit": None}))
    subprocess.run([PYTHON, "-c", "pass"], check=True, env=environment(
        tmp_path, PYTHONPATH=f"{ours}:{theirs}", STRATA="off", STRATA_TRY=str(plan)))
    (log,) = tmp_path.glob("units-*.jsonl")
    assert [json.loads(line)["what"] for line in log.open()] == ["begin", "end"]


# ---- the driver, with programs that need no torch ----

SLEEPS = """
    import sys, time
    print("working on", sys.argv[1:], flush=True)
    time.sleep(0.02)
    sys.exit(3)
"""


def test_output_and_exit_status_are_the_programs(tmp_path):
    prog = written(tmp_path, SLEEPS)
    done = run(tmp_path, "--no-record", "--blocks", "1", "--fix", "nothing", "--", PYTHON, prog, "a", "-x",
               "--")
    assert done.returncode == 3
    assert done.stdout == "working on ['a', '-x', '--']\n"  # once, and nothing of ours
    assert "the whole program" in done.stderr and "best:" not in done.stderr
    assert "none of the fixes makes it faster" in done.stderr or "no gain is certain yet" in done.stderr
    folder = next((tmp_path / "out").glob("prog/*/try"))
    names = sorted(p.name for p in folder.iterdir() if p.is_dir())
    assert names == ["01_as_it_is", "02_nothing", "03_nothing", "04_as_it_is"]  # A B B A
    assert (folder / "02_nothing" / "stdout.txt").read_text() == done.stdout
    assert max(map(len, done.stderr.splitlines())) < 200


def test_json_is_alone_on_standard_output(tmp_path):
    prog = written(tmp_path, SLEEPS)
    done, found = result(tmp_path, "--no-record", "--blocks", "1", "--fix", "nothing:1", "--fix", "nothing:2",
                         "--html", "page.html", "--", PYTHON, prog)
    assert done.returncode == 3 and found["status"] == 3 and "working on []" in done.stderr
    assert found["unit"]["key"] == "program" and found["unit"]["words"] == "the whole program"
    assert [f["fix"] for f in found["fixes"]] == ["nothing:1", "nothing:2"]
    assert all(f["measured"]["verdict"] != "faster" for f in found["fixes"])
    page = (tmp_path / "page.html").read_text()
    assert "nothing:2" in page and "<script" not in page and "http" not in page


def test_a_program_with_few_options_left(tmp_path):
    """Errors name what is wrong, before anything is run."""
    prog = written(tmp_path, "raise SystemExit(9)")
    for words, status, said in (
            (["--fix", "compil:unet", "--", PYTHON, prog], 2, "Did you mean 'compile'?"),
            (["--fix", "gc:on", "--", PYTHON, prog], 2, "gc takes one of freeze, off"),
            (["no_such_run", "--", PYTHON, prog], 3, "no_such_run: no such run or trace"),
            (["--", "no-such-program"], 2, "cannot run no-such-program")):
        done = run(tmp_path, *words)
        assert (done.returncode, said in done.stderr) == (status, True), done.stderr
        assert not (tmp_path / "out").exists()


def test_a_recording_comes_before_the_program(tmp_path):
    prog = written(tmp_path, SLEEPS)
    (tmp_path / "run").mkdir()
    done, found = result(tmp_path, "--blocks", "1", "--fix", "nothing", "run", "--", PYTHON, prog)
    assert found["folder"] == str(tmp_path / "run" / "try") and found["predictions_from"] == "run"
    assert any(note.startswith("no predictions") for note in found["notes"])
    done, found = result(tmp_path, "run", "--blocks", "1", "--fix", "nothing", "--", PYTHON, prog)
    assert found["folder"] == str(tmp_path / "run" / "try_2")  # nothing is overwritten


def test_predictions_of_a_trace(tmp_path):
    """The fixes of a report, with what it predicts; each pair is remembered."""
    trace = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "advice",
                         "gemm_fp32_stack.json.gz")
    prog = written(tmp_path, SLEEPS)
    _, found = result(tmp_path, "--blocks", "1", "--html", "page.html", trace, "--", PYTHON, prog)
    fixes = by_fix(found)
    assert set(fixes) == {"tf32", "bf16:model"} and found["predictions_from"] == trace
    assert fixes["tf32"]["rule"] == "float32_products" and 60 < fixes["tf32"]["predicted_pct"] < 95
    assert fixes["tf32"]["measured"]["verdict"] != "faster"  # this program has no multiplications
    assert fixes["bf16:model"]["failure"]["reason"] == "the program calls no module 'model'"
    page = (tmp_path / "page.html").read_text()
    assert "The ladder of the report" in page and "tf32" in page
    past = json.loads(run(tmp_path, "--history", "--json").stdout)
    assert [r["fix"] for r in past["rows"]] == ["tf32"]
    assert past["rows"][0]["predicted_pct"] == -round(fixes["tf32"]["predicted_pct"], 2)
    assert "nothing is uploaded" in " ".join(run(tmp_path, "--history").stdout.split())


def test_the_time_is_kept(tmp_path):
    prog = written(tmp_path, "import time; time.sleep(0.7)")
    done, found = result(tmp_path, "--no-record", "--time", "3", *(
        w for i in range(9) for w in ("--fix", f"nothing:{i}")), "--", PYTHON, prog)
    assert done.returncode == 0 and found["not_tried"] and any("time" in n for n in found["notes"])
    said = [line for line in done.stderr.splitlines() if "would do for all" in line]
    assert len(said) == 1 and "9 fixes take about" in said[0] and "--time" in said[0]
    before = done.stderr.index(said[0])
    assert before < done.stderr.index(", process 1")  # said before anything is tried


def test_ctrl_c_gives_what_is_known(tmp_path):
    prog = written(tmp_path, "import time; time.sleep(0.2)")
    process = subprocess.Popen(
        [PROGRAM, "try", "--python", PYTHON, "--no-record", *(
            w for i in range(50) for w in ("--fix", f"nothing:{i}")), "--", PYTHON, prog],
        cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(tmp_path), start_new_session=True)
    seen = ""
    while "nothing:1, process 1" not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    os.killpg(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode in (130, -signal.SIGINT)
    assert "stopped before the end" in rest and "nothing:0" in rest and "not tried" in rest


def test_nothing_runs_on_when_it_is_ended(tmp_path):
    prog = written(tmp_path, "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)")
    process = subprocess.Popen([PROGRAM, "try", "--python", PYTHON, "--no-record", "--fix", "nothing", "--",
                                PYTHON, prog], cwd=tmp_path, text=True, stderr=subprocess.PIPE,
                               env=environment(tmp_path))
    for _ in range(300):
        time.sleep(0.1)
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            break
    process.terminate()
    _, said = process.communicate(timeout=30)
    assert "not tried: nothing" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_scratch_leaves_files_alone(tmp_path):
    prog = written(tmp_path, "open('made', 'a').write('x')")
    done, found = result(tmp_path, "--no-record", "--scratch", "--blocks", "1", "--fix", "nothing", "--",
                         PYTHON, os.path.basename(prog))
    assert done.returncode == 0 and not (tmp_path / "made").exists()
    assert os.path.exists(os.path.join(found["folder"], "02_nothing", "work", "made"))


def test_a_fix_that_breaks_the_program(tmp_path):
    """The program notices: its own error, and its line, are the reason."""
    prog = written(tmp_path, """
        import gc
        def work():
            if not gc.isenabled():
                raise ValueError("the collector is off")
        work()
    """)
    _, found = result(tmp_path, "--no-record", "--blocks", "1", "--fix", "gc:off", "--fix", "nothing", "--",
                      PYTHON, prog)
    broken = by_fix(found)["gc:off"]
    assert broken["failure"]["reason"] == "ValueError: the collector is off"
    assert broken["failure"]["source"]["line"] == 5 and broken["measured"] is None
    assert by_fix(found)["nothing"]["measured"] is not None  # the others go on


def test_outputs_of_a_function(tmp_path):
    """--output: also in a script itself, and where the fix changes the results."""
    prog = written(tmp_path, """
        import gc
        class Model:
            def answer(self):
                return {"scores": [1.0, 2.0 if gc.isenabled() else 9.0], "text": "done"}
        for _ in range(2):
            Model().answer()
    """)
    _, found = result(tmp_path, "--no-record", "--no-combine", "--blocks", "1", "--output", "Model.answer",
                      "--fix", "gc:off", "--fix", "nothing", "--", PYTHON, prog)
    fixes = by_fix(found)
    assert fixes["gc:off"]["outputs"]["verdict"] == "different"
    assert fixes["gc:off"]["outputs"]["path"] == "scores[1]"
    assert fixes["nothing"]["outputs"] == {"verdict": "same", "kind": "float", "relative": 0.0,
                                           "path": "scores[0]", "k": 0, "units": 2}


def test_a_program_that_cannot_be_measured(tmp_path):
    prog = written(tmp_path, "raise ValueError('no input')")
    done = run(tmp_path, "--no-record", "--fix", "nothing", "--", PYTHON, prog)
    assert done.returncode == 1 and "the program fails without any fix: ValueError: no input" in done.stderr
    assert "not tried: nothing" in done.stderr
    done = run(tmp_path, "--no-record", "--fix", "nothing", "--", "/bin/true")
    assert done.returncode == 0 and "no Python 3.10 or later was started" in done.stderr


def test_places_that_cannot_be_written(tmp_path):
    """Before anything runs, not after a quarter of an hour."""
    prog = written(tmp_path, "open('ran', 'w')")
    for words, status, says in ((("--html", "nowhere/x.html"), 2, "nowhere/x.html: there is no such folder"),
                                (("--dir", "prog.py"), 3, "cannot create a folder for the trials")):
        done = run(tmp_path, "--no-record", "--fix", "nothing", *words, "--", PYTHON, prog)
        assert done.returncode == status and says in done.stderr, done.stderr
    with open(tmp_path / "weights.bin", "wb") as f:
        f.truncate(2 << 30)
    done = run(tmp_path, "--no-record", "--scratch", "--fix", "nothing", "--", PYTHON, prog)
    assert done.returncode == 2 and "more than 1 GB" in done.stderr and not (tmp_path / "ran").exists()


def test_a_page_that_cannot_be_written(tmp_path):
    """The result is shown all the same."""
    prog = written(tmp_path, "print('done')")
    done = run(tmp_path, "--no-record", "--blocks", "1", "--html", "/dev/full", "--fix", "nothing", "--",
               PYTHON, prog)
    assert done.returncode == 3 and "nothing" in done.stderr and "cannot write the result" in done.stderr
    assert "Traceback" not in done.stderr and list(tmp_path.glob("out/prog/*/try/try.json"))


def test_a_timeline_of_every_fix(tmp_path):
    """Recorded apart; of those that fail there is none."""
    prog = written(tmp_path, """
        import gc
        assert gc.isenabled(), "no collector"
        sum(range(1000))
    """)
    _, found = result(tmp_path, "--no-record", "--no-combine", "--blocks", "1", "--trace", "--fix", "gc:off",
                      "--fix", "nothing", "--", PYTHON, prog)
    assert list(found["recordings"]) == ["the unchanged program", "nothing"]
    assert all(os.path.isdir(os.path.join(path, "rings")) for path in found["recordings"].values()), found


def test_lists(tmp_path):
    done = run(tmp_path, "--list")
    assert done.returncode == 0 and "attention:flash|cudnn|efficient" in done.stdout
    assert "no predictions" in run(tmp_path, "--history").stdout
    assert len(json.loads(run(tmp_path, "--list", "--json").stdout)["fixes"]) >= 15


# ---- inside a program: real torch ----

pytest.importorskip("torch")

TRAINS = """
    import os, sys, time, torch
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __len__(self):
            return 24 * 4

        def __getitem__(self, i):
            time.sleep(0.01)
            return torch.full((8,), i / 96), torch.tensor(i % 4)

    def main():
        torch.manual_seed(0)
        torch.set_num_threads(1)
        child = os.fork()
        if not child:
            print("from the child", flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
        opt = torch.optim.AdamW(model.parameters(), lr=1e-2, foreach=False)
        loader = DataLoader(Data(), batch_size=4, shuffle=True)
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("trained")
        sys.exit(3)

    if __name__ == "__main__":
        main()
"""


@pytest.mark.slow
def test_a_training_loop(tmp_path):
    """The whole path: workers are faster, the rest computes the same, what cannot be applied says why."""
    prog = written(tmp_path, TRAINS, "train.py")
    done, found = result(tmp_path, "--no-record", "--no-combine", "--blocks", "1", "--fix", "loader:4",
                         "--fix", "fused_optimizer", "--fix", "compile:model:aot_eager", "--fix", "gc:freeze",
                         "--fix", "bf16:elsewhere", "--fix", "no_empty_cache", "--", PYTHON, prog)
    assert done.returncode == 3 and found["unit"]["key"] == "step:optimizer.step"
    assert lined(found["unit"]["source"]) == ("train.py", "opt.step()", "main")
    assert done.stderr.count("from the child") == 1 and done.stderr.count("trained") == 1
    fixes = by_fix(found)
    assert fixes["loader:4"]["median_ms"] < 0.6 * found["unit"]["median_ms"]
    for name in ("loader:4", "fused_optimizer", "compile:model:aot_eager", "gc:freeze"):
        assert fixes[name]["failure"] is None, fixes[name]
        assert fixes[name]["outputs"]["verdict"] in ("same", "close"), fixes[name]["outputs"]
    assert fixes["gc:freeze"]["outputs"]["verdict"] == "same"
    assert fixes["bf16:elsewhere"]["failure"]["reason"] == "the program calls no module 'elsewhere'"
    assert "does not call torch.cuda.empty_cache()" in fixes["no_empty_cache"]["failure"]["reason"]
    folder = os.path.join(found["folder"], fixes["loader:4"]["trials"][0])
    with open(os.path.join(folder, main_log(folder))) as f:
        log = f.read()
    assert '"note": "site"' in log and '"function": "main"' in log
    # A trial is a trace: strata diff and strata diff read it.
    pair = [os.path.join(found["folder"], t) for t in (
        found["baseline"]["trials"][0], fixes["loader:4"]["trials"][0])]
    diff = subprocess.run([PROGRAM, "diff", *pair, "--json"], capture_output=True, text=True)
    assert json.loads(diff.stdout)["wall"]["change_pct"] < -10, diff.stderr


ENDLESS = """
    import itertools, torch
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).eval()
    print("begins", flush=True)
    with torch.no_grad():
        for _ in itertools.count():
            net(torch.ones(64, 64))
"""


@pytest.mark.slow
def test_a_program_without_an_end_is_recorded_and_tried(tmp_path):
    """What it prints is passed on once, and enough of it is recorded."""
    prog = written(tmp_path, ENDLESS)
    done, found = result(tmp_path, "--time", "90", "--scratch", "--fix", "nothing", "--", PYTHON, prog)
    assert done.returncode == 0 and done.stderr.count("begins") == 1
    assert found["predictions_from"] and found["notes"] == []
    assert by_fix(found)["nothing"]["measured"] is not None
    assert os.path.isdir(os.path.join(found["folder"], "recording", "work"))


def lined(source):
    """The file, the text of the line and the function that a place names."""
    with open(source["file"]) as f:
        return os.path.basename(source["file"]), f.read().splitlines()[source["line"] - 1].strip(), (
            source["function"])


def main_log(folder):
    """The largest: that of the process with the loop."""
    return max((os.path.getsize(os.path.join(folder, n)), n) for n in os.listdir(folder)
               if n.startswith("units-"))[1]


INFERS = """
    import torch
    torch.set_num_threads(1)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(16, 16)

        def forward(self, x):
            return self.inner(x) + 4096.0 - 4096.0

    net = Net().eval()
    with torch.no_grad():
        for _ in range(14):
            y = net(torch.ones(4, 16))
    print(y.shape)
"""


@pytest.mark.slow
def test_outermost_modules_and_changed_results(tmp_path):
    """No pipeline, no optimizer: calls of the module are the unit. In bfloat16 small differences of large
    numbers are gone, and that is said; a graph without a GPU fails with its reason."""
    prog = written(tmp_path, INFERS)
    _, found = result(tmp_path, "--no-record", "--no-combine", "--blocks", "1", "--fix", "bf16:Net",
                      "--fix", "graph:net", "--fix", "compile:net.inner:eager", "--", PYTHON, prog)
    assert found["unit"]["key"] == "step:Net"
    assert lined(found["unit"]["source"])[1] == "y = net(torch.ones(4, 16))"
    fixes = by_fix(found)
    assert fixes["bf16:Net"]["outputs"]["verdict"] == "different"
    assert "CUDA" in fixes["graph:net"]["failure"]["reason"]
    assert fixes["compile:net.inner:eager"]["outputs"]["verdict"] == "same"
    assert fixes["compile:net.inner:eager"]["failure"] is None


LOOPS = """
    import gc, torch, torch._dynamo
    gc.freeze()  # what torch has made would take most of the time
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU()).eval()
    index = [[k] for k in range(20000)]
    total = 0.0
    with torch.no_grad():
        for k in range(100000):
            total += net(torch.full((4, 16), k / 1000)).sum().item()
            gc.collect()
    print(total)
"""


@pytest.mark.slow
def test_fixes_take_turns(tmp_path):
    """All in one process beside the first: one gains, some compute something else, one breaks at once."""
    prog = written(tmp_path, LOOPS)
    specs = ("nothing", "graph:net", "bf16:net", "gc:off", "compile:net:eager")
    done, found = result(tmp_path, "--no-record", "--no-combine", "--blocks", "1",
                         *(word for spec in specs for word in ("--fix", spec)), "--", PYTHON, prog)
    assert found["processes"] == 2 and found["best"] == ["gc:off"], done.stderr
    fixes = by_fix(found)
    assert fixes["gc:off"]["measured"]["change_pct"] < -50 and fixes["gc:off"]["rule"] == ""
    assert fixes["gc:off"]["outputs"]["verdict"] == "same" == fixes["nothing"]["outputs"]["verdict"]
    assert fixes["bf16:net"]["outputs"]["verdict"] == "close"
    assert fixes["nothing"]["measured"]["verdict"] in ("no_difference", "not_settled")
    assert "CUDA" in fixes["graph:net"]["failure"]["reason"]
    assert fixes["compile:net:eager"]["failure"] is None
    assert found["code"][0]["source"]["line"] == 11, found["code"]
    folder = os.path.join(found["folder"], fixes["gc:off"]["switched"][0])
    pair = [os.path.join(folder, side) for side in ("without", "with")]
    diff = subprocess.run([PROGRAM, "diff", *pair, "--json"], capture_output=True, text=True)
    assert json.loads(diff.stdout)["wall"]["change_pct"] < -40, diff.stderr


PAUSES = """
    import collections, torch
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()).eval()
    index = [[k] for k in range(300000)]
    recent = collections.deque(maxlen=40)
    with torch.no_grad():
        for k in range(100000):
            net(torch.full((64, 512), k / 1000))
            recent.append([[j] for j in range(3000)])
"""


@pytest.mark.slow
def test_pauses_of_the_collector(tmp_path):
    """One of 100 ms in some fifty steps of 1 ms, by the collector's own decision. A block must have its
    share of them, and what is measured must be close to what they take of the time."""
    prog = written(tmp_path, PAUSES)
    done, found = result(tmp_path, "--no-record", "--no-combine", "--time", "120", "--fix", "gc:freeze",
                         "--fix", "gc:off", "--", PYTHON, prog)
    folder = os.path.join(found["folder"], "01_as_it_is")
    with open(os.path.join(folder, main_log(folder))) as f:
        times = [x["ms"] for x in map(json.loads, f) if x["what"] == "unit"]
    between = pauses.period(times)
    assert between > 20, times
    for f in found["fixes"]:
        assert f["measured"]["verdict"] == "faster", done.stderr
        assert f["measured"]["change_pct"] < -25, f
        assert f["set_up"]["seconds"] == 0, f  # the pause of its warm-up is the program's own
        assert f["median_ms"] / f["before_ms"] - 1 == pytest.approx(f["measured"]["change_pct"] / 100)
        with open(os.path.join(found["folder"], os.path.dirname(f["switched"][0]), "plan.json")) as file:
            assert json.load(file)["turns"][0]["block"] > between


PIPES = """
    import sys
    sys.path.insert(0, {here!r})
    import tiny_pipeline as tiny
    pipe = tiny.make()
    print(tiny.call(pipe).shape)
"""


@pytest.mark.slow
def test_a_pipeline_that_is_called_once(tmp_path):
    """Its only call is made again, with the same random numbers; the unet is found by name."""
    pytest.importorskip("diffusers")
    prog = written(tmp_path, PIPES.format(here=os.path.dirname(os.path.abspath(__file__))))
    done, found = result(tmp_path, "--no-record", "--blocks", "1", "--fix", "compile:unet:eager", "--",
                         PYTHON, prog, HF_HUB_OFFLINE=1)
    assert found["unit"]["key"] == "call:StableDiffusionPipeline", done.stderr
    assert "(1, 16, 16, 3)" in done.stderr
    fix = by_fix(found)["compile:unet:eager"]
    assert fix["failure"] is None and fix["outputs"]["verdict"] == "same", evidence(tmp_path)
    assert fix["outputs"]["units"] == 1, evidence(tmp_path)
    assert fix["measured"]["pairs"] >= 8 and found["processes"] == 2, evidence(tmp_path)
    assert {m["name"] for m in found["modules"]} >= {"unet", "vae", "text_encoder", "model"}
    with open(os.path.join(found["folder"], os.path.dirname(fix["switched"][0]), "plan.json")) as f:
        plan = json.load(f)
    assert plan["repeat"]["at"] == 0 and plan["repeat"]["times"] > 30


GENERATES = """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                         num_key_value_heads=1, vocab_size=50)
    model = LlamaForCausalLM(config).eval()
    ids = torch.randint(0, 50, (2, 8))
    for _ in range(3):
        out = model.generate(ids, max_new_tokens=6, min_new_tokens=6, do_sample=False, pad_token_id=0)
    print(out.shape)
"""


@pytest.mark.slow
def test_a_program_that_generates(tmp_path):
    """With a cache of fixed size: the same tokens, and one keyword to write at the call."""
    pytest.importorskip("transformers")
    prog = written(tmp_path, GENERATES)
    done, found = result(tmp_path, "--no-record", "--blocks", "1", "--fix", "static_cache", "--fix",
                         "graph:model", "--", PYTHON, prog, HF_HUB_OFFLINE=1)
    assert found["unit"]["key"] == "call:generate", done.stderr
    assert {m["name"]: m["blocks"] for m in found["modules"]}["model"] == 2
    fix = by_fix(found)["static_cache"]
    assert fix["failure"] is None and fix["outputs"]["verdict"] == "same", evidence(tmp_path)
    assert fix["measured"]["pairs"] >= 8, evidence(tmp_path)
    assert "CUDA" in by_fix(found)["graph:model"]["failure"]["reason"]
    with open(os.path.join(found["folder"], os.path.dirname(fix["switched"][0]), "plan.json")) as f:
        assert json.load(f)["fixes"] == ["graph:model", "static_cache"]  # what is set up soon first
