"""Timelines: strata.profile in the place of torch.profiler.profile, and selected stages only."""
import gzip
import json
import os
import subprocess
import sys
import textwrap

import pytest

from conftest import PROGRAM, clean_environment

torch = pytest.importorskip("torch")


def events(path):
    with gzip.open(path, "rt") as f:
        return json.load(f)["traceEvents"]


def test_profile_is_torchs_own(strata):
    with strata.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True,
                        report=False) as prof:
        torch.ones(4) + 1
    assert isinstance(prof, torch.profiler.profile)
    assert any(row.key == "aten::add" for row in prof.key_averages())
    assert os.path.basename(prof.trace).startswith("torch_trace")
    assert any(e.get("name") == "aten::add" for e in events(prof.trace))


def test_profile_with_a_schedule(strata):
    ready = []
    with strata.profile(schedule=strata.schedule(wait=1, warmup=1, active=2, repeat=1),
                        on_trace_ready=ready.append, report=False) as prof:
        for _ in range(6):
            torch.ones(2) * 2
            prof.step()
    assert len(ready) == 1
    steps = {e["name"] for e in events(prof.trace) if str(e.get("name", "")).startswith("ProfilerStep")}
    assert steps == {"ProfilerStep#2", "ProfilerStep#3"}


def test_profile_tells_its_report(strata):
    with strata.profile(report=False) as prof:
        torch.ones(4) + 1
    assert "wall" in prof.report() or "strata" in prof.report()


def test_traces_do_not_overwrite_each_other(strata):
    paths = set()
    for _ in range(3):
        with strata.profile(report=False) as prof:
            torch.ones(1) + 1
        paths.add(prof.trace)
    assert len(paths) == 3


def test_the_trace_stands_for_the_run(program):
    """With stages the folder holds recordings, too: the trace says more, and has their labels."""
    done = program("""
        import torch, strata
        for _ in range(20):
            with strata.stage("before"):
                pass
        with strata.profile(report=False) as prof:
            for _ in range(3):
                with strata.stage("before"), strata.stage("inside"):
                    torch.ones(64) + 1
        with strata.stage("after"):
            pass
        print(prof.trace)
    """)
    assert done.status == 0, done.stderr
    names = [e["name"] for e in events(done.stdout.split()[-1]) if e.get("cat") == "user_annotation"]
    assert names.count("before") == names.count("inside") == 3 and "after" not in names
    told = subprocess.run([PROGRAM, "report", done.folder(), "--json"], check=True,
                          capture_output=True, text=True, env=clean_environment())
    assert "only stages were recorded" not in told.stdout
    stages = subprocess.run([PROGRAM, "stages", done.stdout.split()[-1], "--json"], check=True,
                            capture_output=True, text=True, env=clean_environment())
    assert "before/inside" in [s["path"] for s in json.loads(stages.stdout)["stages"]]
    table = subprocess.run([PROGRAM, "table", done.folder(), "--json"], check=True,
                           capture_output=True, text=True, env=clean_environment())
    assert any(row["name"] == "aten::add" for row in json.loads(table.stdout)["rows"])


ONLY = """
    import torch, strata

    @strata.stage("denoise")
    def denoise(x):
        with strata.stage("inner"):
            return torch.relu(x)

    @strata.stage("decode")
    def decode(x):
        return torch.sigmoid(x)

    x = torch.ones(8)
    for _ in range(4):
        decode(denoise(x))
    torch.tanh(x)
"""


@pytest.fixture(scope="module")
def selected(tmp_path_factory):
    """One run with strata run --only, looked at from several sides."""
    folder = tmp_path_factory.mktemp("only")
    (folder / "prog.py").write_text(textwrap.dedent(ONLY))
    done = subprocess.run(
        [PROGRAM, "run", "-o", str(folder), "--only", "denoise", "--steps", "2", "--skip", "1", "--",
         sys.executable, str(folder / "prog.py")],
        capture_output=True, text=True, check=False, env=clean_environment(PYTHONPATH=""))
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stderr)
    return next((folder / "prog").iterdir())


def test_only_the_stages_asked_for(selected):
    traces = sorted(p.name for p in selected.glob("*_trace*.json.gz"))
    assert len(traces) == 2 and all(t.startswith("denoise_trace") for t in traces)
    for name in traces:
        names = {e.get("name") for e in events(selected / name)}
        assert "aten::relu" in names
        assert not {"aten::sigmoid", "aten::tanh"} & names


def test_where_the_timelines_are_is_said(selected):
    said = (selected.parents[1] / "said").read_text()
    for trace in sorted(selected.glob("*_trace*.json.gz")):
        assert f"strata: a timeline of denoise was recorded: strata report {trace}\n" in said


def test_a_report_of_the_run_names_the_timelines_of_its_stages(selected):
    told = subprocess.run([PROGRAM, "report", str(selected)], capture_output=True, text=True, check=True,
                          env=clean_environment())
    for trace in sorted(selected.glob("*_trace*.json.gz")):
        assert f"strata report {trace}   one call of denoise\n" in told.stdout


def test_stages_around_a_selected_one_do_not_pay_for_the_first_start_of_the_profiler(program):
    done = program("""
        import time, torch, strata
        from torch import profiler
        plain, starts = profiler.profile.start, []
        def start(self):
            starts.append("outer" if open_now else "outside")
            return plain(self)
        profiler.profile.start = start
        open_now = []
        with strata.stage("outer"):
            open_now.append(1)
            with strata.stage("denoise"):
                torch.relu(torch.ones(4))
            open_now.clear()
        print(starts)
    """, STRATA_ONLY="denoise")
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['outside', 'outer']"


def test_breakdown_adds_nothing_twice(selected):
    found = json.loads((selected / "denoise_breakdown.json").read_text())
    assert found["name"] == "denoise" and found["trace"] == "denoise_trace.json.gz"
    assert found["total_self_cpu_ms"] == pytest.approx(
        sum(o["self_cpu_ms"] for o in found["top_operators"]))
    assert any(o["name"] == "aten::relu" for o in found["top_operators"])
    assert not any("hooks.py" in o["name"] or "built-in" in o["name"] for o in found["top_operators"])


def test_breakdown_without_a_name_that_cannot_be_read(program):
    """torch keeps no copy of some names, and gives up on the first that is no text."""
    done = program("""
        import torch, strata
        from strata._timeline import breakdown

        class Nameless:
            def __init__(self, event):
                self.event = event
            def __getattr__(self, name):
                return getattr(self.event, name)
            def name(self):
                raise UnicodeDecodeError("utf-8", b"\\xff", 0, 1, "no text")

        class Torn:
            def __init__(self, whole):
                events = whole.profiler.kineto_results.events()
                events = [Nameless(e) if "relu of" in e.name() else e for e in events]
                self.profiler = self.kineto_results = self
                self.events = lambda: events
            def key_averages(self):
                raise UnicodeDecodeError("utf-8", b"\\xff", 0, 1, "no text")

        with torch.profiler.profile(with_stack=True) as whole:
            torch.relu(torch.ones(8))
        want, have = breakdown.of(whole), breakdown.of(Torn(whole))
        assert abs(want["total_self_cpu_ms"] - have["total_self_cpu_ms"]) < 1e-6, (want, have)
        calls = [{o["name"]: o["calls"] for o in b["top_operators"]} for b in (want, have)]
        assert calls[0] == calls[1] and "aten::relu" in calls[0], calls
        rows = [{r.key: r.cpu_time_total for r in breakdown.rows_of(p)} for p in (whole, Torn(whole))]
        total = [r["aten::relu"] for r in rows]
        assert abs(total[0] - total[1]) < 1e-3, total
        print("same")
    """)
    assert done.stdout == "same\n", done


def test_numbers_are_kept_too(selected):
    found = json.loads((selected / "timing.json").read_text())
    stages = found["stages"]
    assert stages["denoise"]["count"] == 4 and stages["decode"]["count"] == 4
    assert 0 < found["profiler_ms"] < found["wall_clock_ms"]


def test_a_profiler_of_the_programs_own(program):
    """Ours gives way."""
    done = program("""
        import torch, strata
        with torch.profiler.profile() as prof:
            with strata.stage("a"):
                torch.ones(2) + 1
        assert any(r.key == "aten::add" for r in prof.key_averages())
        print("done")
    """, STRATA_ONLY="*")
    assert done.status == 0 and done.stdout == "done\n", done.stderr


def test_without_torch(program):
    done = program("""
        import strata
        with strata.stage("a"):
            pass
        print("done")
    """, STRATA_ONLY="a")
    assert (done.status, done.stdout) == (0, "done\n")
