"""Wrong usage of the interface: nothing raises into the program, and one line says what is missing."""
import pytest


def said(done):
    return [line for line in done.stderr.splitlines() if line.startswith("strata: ")]


def test_marks_that_cannot_be_made(program):
    done = program("""
        import strata
        for _ in range(2):
            strata.annotate_pipeline(None)
            strata.annotate_pipeline(object())
            strata.watch(None)
            strata.watch([], "append")
            strata.watch([], "nomethod")
            with strata.stage("x", req=1), strata.stage("x", True), strata.stage(3), strata.stage(""):
                pass
            @strata.stage("kind")
            class Kind: pass
            assert Kind() is not None and strata.stage("number")(3) == 3
            strata.timeline(ops="bogus")
        print(sorted(strata.report()["stages"]))
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr
    assert done.stdout == "['x', 'x/3', 'x/3/(unnamed)']\n"
    assert said(done) == [
        "strata: annotate_pipeline(None): there is no pipeline to mark",
        "strata: annotate_pipeline: nothing is marked on a object: cannot create weak reference to 'object' "
        "object",
        'strata: watch: None is not a torch module; name its methods: strata.watch(object, "method")',
        "strata: cannot watch list.append: a list has no attributes of its own",
        "strata: cannot watch list.nomethod: list has no method 'nomethod'",
        "strata: strata.stage('x', req=...): there is no such option; it has sync and save_inputs",
        "strata: strata.stage('x', ...) takes one name; the rest is left out",
        "strata: strata.stage(3): a stage is named by a str",
        'strata: strata.stage(""): a stage needs a name; it is called (unnamed)',
        "strata: strata.stage('kind') marks functions and methods; <class '__main__.Kind'> is left as it is",
        "strata: strata.stage('number') marks functions and methods; 3 is left as it is",
        "strata: timeline(ops='bogus'): ops is off, user, all or shapes; using the default"]


def test_patterns_that_match_nothing(program):
    pytest.importorskip("torch")
    done = program("""
        import strata, torch
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        print(strata.watch(model, submodules=["0", "nothing.*"]))
        print(strata.annotate_pipeline(model))
        print(strata.watch(model, submodules=None))
        handle = strata.watch(torch.nn.Linear(1, 1), name="layer", submodules="*")
        handle.undo()
        print(handle)
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines() == [
        "<strata: 2 marked: Sequential, Sequential.0>", "<strata: nothing marked>",
        "<strata: 1 marked: Sequential>", "<strata: nothing marked>"]
    assert said(done) == [
        "strata: watch: no module of Sequential matches submodules='nothing.*'; it has 0, 1",
        "strata: annotate_pipeline: a Sequential has no parts that are known by name (transformer, unet, "
        'vae, scheduler ...); strata.watch(model) marks any module, strata.watch(object, "method") any '
        "method",
        "strata: watch: no module of layer matches submodules='*'; it has none inside it"]


def test_the_same_while_off(program):
    done = program("""
        import strata
        strata.annotate_pipeline(None); strata.watch(None)
        with strata.stage("x", req=1), strata.stage(""):
            pass
        print(strata.watch(None), strata.run_dir())
    """, STRATA="off")
    assert done.status == 0 and done.stdout == "<strata is off: nothing marked> None\n", done.stderr


def test_the_folder_is_made_by_the_first_stage(program, tmp_path):
    done = program("""
        import os, strata
        assert strata.run_dir() is None
        assert not os.path.exists(os.environ["STRATA_OUT"])
        with strata.stage("a"):
            pass
        assert os.path.isdir(strata.run_dir())
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr


def test_the_table_at_exit_is_limited(program):
    done = program("""
        import strata
        for i in range(50):
            with strata.stage(f"stage {i}"):
                pass
    """)
    lines = done.stderr.splitlines()
    assert lines[1].split() == ["stage", "calls", "total", "median", "p95", "first", "peak", "mem"]
    assert "stage 39" in lines[41] and lines[42].startswith("  ... 10 more: strata stages ")
    assert lines[42].endswith(" --limit 0") and lines[43].startswith("next: ")


def test_a_report_before_the_first_file(program):
    done = program("""
        import strata
        with strata.stage("a"):
            pass
        print(strata.report())
    """, STRATA_TABLE="off", STRATA_TEST_RINGS="off", STRATA_TEST_CHECKPOINT=0)
    assert done.status == 0 and "nothing written" not in done.stdout
    assert done.stdout.splitlines()[0].endswith("0 records lost")


PIPELINE = """
    import strata
    class Scheduler:
        def step(self, x): return x
    class Pipe:
        def __init__(self): self.scheduler = Scheduler()
        def __call__(self, x):
            "doc"
            return self.scheduler.step(x)
    class Sub(Pipe):
        def __call__(self, x): return super().__call__(x)
"""


def test_a_pipeline_s_call_is_a_stage(program):
    """As under `strata run`, and only of the object that was given."""
    done = program(PIPELINE + """
    plain = vars(Pipe)["__call__"]
    pipe, other, sub = Pipe(), Pipe(), Sub()
    handle, again = strata.annotate_pipeline(pipe), strata.annotate_pipeline(pipe)
    assert str(handle) == "<strata: 2 marked: scheduler_step, pipeline_call>", handle
    assert pipe(1) == other(1) == 1 and Pipe.__call__.__doc__ == "doc"
    counts = lambda: {p: s["count"] for p, s in strata.report()["stages"].items()}
    assert counts() == {"pipeline_call": 1, "pipeline_call/scheduler_step": 1}, counts()
    with strata.annotate_pipeline(sub):
        sub(1)
    assert counts()["pipeline_call"] == 2 and "recursions" not in strata.report()["stages"]["pipeline_call"]
    handle.undo()
    pipe(1)
    assert counts()["pipeline_call"] == 3
    again.undo()
    assert vars(Pipe)["__call__"] is plain and vars(Sub)["__call__"].__name__ == "__call__"
    strata.annotate_pipeline(Pipe())  # dropped at once
    assert vars(Pipe)["__call__"] is plain
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr
