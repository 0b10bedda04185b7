"""strata run --level timeline on an ordinary CUDA program, on a GPU that is not there: a fake driver
that honours injection and fakes of CUPTI 12 and 13 that misbehave on demand (tests/capture)."""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conftest import BUILD, PROGRAM, clean_environment

FAKES = Path(BUILD) / "tests" / "capture"
LIBRARY = Path(BUILD) / "python" / "strata" / "libstrata_inject.so"


class Run:
    """What a run said and left behind."""

    def __init__(self, done, out):
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        folders = sorted(p.parent for p in out.glob("*/*/rings"))
        assert len(folders) <= 1, folders
        self.folder = folders[0] if folders else None

    def ask(self, command, *options):
        done = subprocess.run([PROGRAM, command, str(self.folder), "--json", *options],
                              capture_output=True, text=True, check=True, timeout=120)
        return json.loads(done.stdout)

    def counts(self):
        return {c["name"]: c["events"] for c in self.ask("info")["categories"]}

    def rows(self, tmp_path):
        path = tmp_path / "exported.json"
        subprocess.run([PROGRAM, "export", str(self.folder), "-o", str(path)], check=True,
                       capture_output=True, timeout=120)
        return [e for e in json.loads(path.read_text())["traceEvents"] if e.get("ph") == "X"]


@pytest.fixture
def capture(tmp_path):
    """capture(*words of the program, fake=what CUPTI does wrong, cupti=version); program=: as it is,
    without `strata run`."""

    def run(*words, fake="", cupti="13", options=(), command=None, program=None, **env):
        libraries = tmp_path / "lib"
        libraries.mkdir(exist_ok=True)
        links = {"libcuda.so.1": "libcuda.so.1", f"libcupti.so.{cupti}": f"libcupti.so.{cupti}.fake"}
        if "FAKE_NVML" in env:
            links["libnvidia-ml.so.1"] = "libnvidia-ml.so.1"
        for name, file in links.items():
            (libraries / name).unlink(missing_ok=True)
            (libraries / name).symlink_to(FAKES / file)
        env.setdefault("APP_CUPTI", f"libcupti.so.{cupti}")
        command = command or [str(FAKES / "capture_app"), *words]
        program = program or [PROGRAM, "run", "-o", str(tmp_path / "out"), "--level", "timeline", *options,
                              "--", *command]
        done = subprocess.run(
            program, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
            env=clean_environment(LD_LIBRARY_PATH=libraries, FAKE_CUPTI=fake,
                                  STRATA_OUT=tmp_path / "out", **env))
        return Run(done, tmp_path / "out")

    return run


FROM_INSIDE = """
    import ctypes, os
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")
    import strata

    def work(n):
        for _ in range(n):
            cuda.cuLaunchKernel(kernel, 1, 0)
        cuda.cuStreamSynchronize(0)

    cuda.cuInit(0)
    work(50)
    with strata.timeline() as part, strata.timeline():
        work(30)
    work(70)

    @strata.timeline()
    def again():
        work(20)
    again()
    work(5)
    assert part.report("--whole").startswith(os.path.basename(part.folder))
"""


def test_parts_of_a_program_from_inside(capture, tmp_path):
    """Without `strata run`: what is launched inside the parts is there, and nothing else."""
    script = tmp_path / "inside.py"
    script.write_text(textwrap.dedent(FROM_INSIDE))
    run = capture(program=[sys.executable, str(script)], STRATA_TABLE="off")
    assert run.status == 0 and run.stderr == "", run.stderr
    assert run.counts()["kernel"] == 50 and run.ask("info")["device_work_without_launch"] == 0
    waits = [r for r in run.rows(tmp_path) if r["name"] == "cuStreamSynchronize"]
    assert len(waits) == 2
    (site,) = run.ask("syncs", "--whole")["sites"]
    assert site["source"]["function"] == "work" and site["source"]["line"] == 10


def test_a_part_without_a_gpu_says_so_once(capture, tmp_path):
    script = tmp_path / "inside.py"
    script.write_text(textwrap.dedent(FROM_INSIDE))
    run = capture(program=[sys.executable, str(script)], fake="refuse=10", STRATA_TABLE="off")
    assert run.status == 0
    assert run.stderr == "strata: this timeline has no GPU work; run strata doctor to see why\n"


SLOW = "mhz=1395 max=1980 power=698500 limit=700000 temperature=71 limits=4"


def counters(run, tmp_path):
    path = tmp_path / "counters.json"
    subprocess.run([PROGRAM, "export", str(run.folder), "-o", str(path)], check=True, capture_output=True,
                   timeout=120)
    found = collections.defaultdict(list)
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["ph"] == "C":
            found[event["name"]].append(event["args"]["value"])
    return found


def test_clocks_and_what_holds_them_down(capture, tmp_path):
    run = capture("beat=8", FAKE_NVML=SLOW)
    assert run.status == 0, run.stderr
    found = counters(run, tmp_path)
    assert {name: set(values) for name, values in found.items()} == {
        "GPU 0 SM clock (MHz)": {1395}, "GPU 0 highest SM clock (MHz)": {1980}, "GPU 0 power (W)": {698.5},
        "GPU 0 power limit (W)": {700}, "GPU 0 temperature (C)": {71}, "GPU 0 clock limits": {4}}
    assert 3 <= len(found["GPU 0 SM clock (MHz)"]) <= 12


def test_energy_and_memory_are_counters_of_the_driver(capture, tmp_path):
    run = capture("beat=12", FAKE_NVML="watts=500 used=5000000000")
    found = counters(run, tmp_path)
    assert set(found) == {"GPU 0 energy (J)", "GPU 0 memory in use (MB)"}
    joules = found["GPU 0 energy (J)"]
    assert len(joules) >= 2 and joules == sorted(joules) and joules[0] >= 7000
    assert 500 * 0.4 < (joules[1] - joules[0]) < 500 * 5  # not more often than every 450 ms
    assert set(found["GPU 0 memory in use (MB)"]) == {5000}


@pytest.mark.parametrize("nvml, severity, words", [
    (SLOW, "low", "GPU 0 ran at 1395 of 1980 MHz for 100 % of the time it worked, because of the power cap"),
    (SLOW.replace("limits=4", "limits=64"), "medium", "heat"),
    (SLOW.replace("limits=4", "limits=0"), None, ""),  # slow, and nobody says why
    (SLOW.replace("mhz=1395", "mhz=1965"), None, ""),  # at its limit, and fast all the same
])
def test_a_clock_that_is_held_down_is_reported(capture, nvml, severity, words):
    run = capture("launch=3", *["long=250", "sync"] * 4, FAKE_NVML=nvml)
    assert run.status == 0, run.stderr
    found = [f for f in run.ask("report", "--whole")["findings"] if f["rule"] == "held_clock"]
    assert [f["severity"] for f in found] == ([severity] if severity else [])
    assert all(words in f["why"] and not f["predicts_gain"] for f in found)


def test_a_clock_that_rests_is_not_held_down(capture):
    run = capture("beat=8", FAKE_NVML=SLOW)
    assert not [f for f in run.ask("report", "--whole")["findings"] if f["rule"] == "held_clock"]


@pytest.mark.parametrize("nvml", ["init=999", "max=1980", "mhz=0", ""])
def test_clocks_that_cannot_be_read_leave_the_program_alone(capture, tmp_path, nvml):
    run = capture("beat=3", FAKE_NVML=nvml)
    assert run.status == 0 and run.counts()["kernel"] == 9
    found = {"max=1980": {"GPU 0 highest SM clock (MHz)"}, "mhz=0": {"GPU 0 SM clock (MHz)"}}
    assert set(counters(run, tmp_path)) == found.get(nvml, set())


@pytest.mark.parametrize("nvml, others", [
    ("direct=self", {0}),
    ("direct=self/77/78", {2}),
    ("direct=4711/77", {1}),  # the host's numbers, seen from inside a container
    ("direct=", None),  # hidden: not even this process is listed
    ("", None),
    ("direct=9 mps=self/77", {1}),  # the server of MPS and its clients
    ("direct=self/77 instance=3", None),  # each in a partition of its own
    ("direct=self/77 late=2", {0, 1}),  # another one comes while we record
])
def test_other_processes_on_the_gpu_are_counted(capture, tmp_path, nvml, others):
    run = capture("beat=13", FAKE_NVML="mhz=1395 " + nvml)
    assert run.status == 0, run.stderr
    found = counters(run, tmp_path)
    seen = found.get("GPU 0 other processes", [])
    assert (set(seen) if seen else None) == others
    assert len(seen) == (len(found["GPU 0 SM clock (MHz)"]) if others else 0), "with every sample"
    problems = {d["id"]: d for d in run.ask("report", "--whole")["trace_quality"]["problems"]}
    shared = bool(others and max(others))
    assert ("gpu_shared" in problems) == shared
    assert not shared or problems["gpu_shared"]["level"] == "good", "it disturbed nobody"


def test_clocks_are_left_alone_when_that_is_asked_for(capture, tmp_path):
    run = capture("beat=3", FAKE_NVML=SLOW, STRATA_TEST_CLOCKS="off")
    assert run.status == 0 and not counters(run, tmp_path)


def test_clocks_are_not_looked_at_while_paused(capture, tmp_path):
    run = capture("pause", "beat=6", "resume", "launch=1", FAKE_NVML=SLOW)
    assert run.status == 0
    assert len(counters(run, tmp_path)["GPU 0 SM clock (MHz)"]) <= 1


@pytest.mark.parametrize("cupti", ["12", "13"])
def test_everything_the_gpu_did(capture, tmp_path, cupti):
    run = capture("launch=300", "graph=7", "copy", "set", "alloc", "sync", "devsync", cupti=cupti)
    assert run.status == 0 and run.stdout == "cuInit 0\ndone\n", run.stderr
    counts = run.counts()
    assert counts["kernel"] == 307 and counts["gpu_memcpy"] == 2 and counts["gpu_memset"] == 1
    rows = run.rows(tmp_path)
    kernels = [r for r in rows if r["cat"] == "kernel"]
    assert {r["name"] for r in kernels} >= {"gemm(float*, float*, float*)", "softmax(float*)"}
    assert all(r["args"]["device"] == 0 and r["args"]["block"] == [128, 1, 1] for r in kernels)
    copies = {r["name"]: r["args"]["bytes"] for r in rows if r["cat"] == "gpu_memcpy"}
    assert copies == {"Memcpy DtoH (Device -> Pinned)": 8, "Memcpy HtoD (Pageable -> Device)": 4096}
    info = run.ask("info")
    assert [d["name"] for d in info["devices"]] == ["Fake GPU 0"]
    assert info["versions"] == {"cuda_driver": "13.0", "cupti": {"12": "24", "13": "130001"}[cupti]}


@pytest.mark.parametrize("asked, env", [(0, {}), (2, {"STRATA_TEST_SYNC_RECORDS": "on"})])
def test_records_of_waits_are_there_when_asked_for(capture, asked, env):
    """The calls that wait are recorded either way."""
    run = capture("launch=10", "sync", "launch=10", "sync", **env)
    assert run.counts().get("cuda_sync", 0) == asked
    assert run.ask("syncs", "--whole")["sites"]


def test_every_kernel_has_its_launch_and_comes_after_it(capture, tmp_path):
    run = capture("launch=2000", "graph=5", "sync")
    assert run.ask("info")["device_work_without_launch"] == 0
    rows = run.rows(tmp_path)
    calls = {r["args"]["correlation"]: r for r in rows if r["cat"] == "cuda_driver"}
    kernels = [r for r in rows if r["cat"] == "kernel"]
    assert len(kernels) == 2005
    for kernel in kernels:
        call = calls[kernel["args"]["correlation"]]
        assert call["name"] in ("cuLaunchKernel", "cuGraphLaunch")
        assert kernel["ts"] >= call["ts"] - 50  # microseconds the two clocks may be apart
    nodes = [k["args"] for k in kernels if k["args"].get("graph node id")]
    assert len(nodes) == 5 and len({n["correlation"] for n in nodes}) == 1
    (wait,) = [r for r in rows if r["name"] == "cuStreamSynchronize"]
    assert wait["ts"] + wait["dur"] >= max(k["ts"] + k["dur"] for k in kernels) - 50


def test_what_is_captured_into_a_graph_is_not_missed(capture):
    """A launch into a graph leaves no record: nothing was lost."""
    run = capture("launch=50", "capture=40", "graph=40", "sync", "launch=50", "sync")
    assert run.counts()["kernel"] == 140
    problems = run.ask("report", "--whole")["trace_quality"]["problems"]
    assert "records_dropped" not in {d["id"] for d in problems}, problems


QUEUES = """
    import ctypes, os
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda = ctypes.CDLL("libcuda.so.1")

    def fill():
        cuda.cuMemsetD8Async(256, 0)

    def allocate():
        cuda.cuMemAlloc_v2(256)

    cuda.cuInit(0)
    for _ in range(200):
        fill()
        allocate()
    cuda.cuStreamSynchronize(0)
"""


def test_calls_that_only_queue_get_no_stack(capture, tmp_path):
    """Unless they take long: then the queue was full. Of others every one may have waited."""
    script = tmp_path / "queues.py"
    script.write_text(textwrap.dedent(QUEUES))
    run = capture(command=[sys.executable, str(script)], STRATA_TEST_WAIT_US="0", STRATA_TEST_SAMPLES="0")
    assert run.status == 0, run.stderr
    functions = [r["name"].split(": ")[-1] for r in run.rows(tmp_path) if r["cat"] == "python_function"]
    seen = collections.Counter(functions)
    assert seen["allocate"] >= 200 and seen["fill"] < seen["allocate"] / 4, seen  # a busy machine delays some


CAPTURES = """
    import ctypes, os
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")

    def forward():
        for _ in range(2):
            cuda.cuLaunchKernel(kernel, 1, 0)
        cuda.cuLaunchKernel(kernel, 1, 0)

    def decode():
        cuda.cuGraphLaunch(3, 0)

    cuda.cuInit(0)
    cuda.cuStreamBeginCapture_v2(0)
    forward()
    cuda.cuStreamEndCapture(0)
    cuda.cuGraphInstantiateWithFlags()
    for _ in range(5):
        decode()
    cuda.cuStreamSynchronize(0)
"""


@pytest.mark.parametrize("cupti", ["12", "13"])
def test_work_of_a_graph_has_the_line_that_was_captured(capture, tmp_path, cupti):
    """A kernel names the copy of its node that the executable graph has; the node was captured."""
    script = tmp_path / "captures.py"
    script.write_text(textwrap.dedent(CAPTURES))
    run = capture(command=[sys.executable, str(script)], cupti=cupti)
    assert run.status == 0, run.stderr
    kernels = run.ask("kernels", "--whole")
    assert kernels["totals"]["captured_us"] == kernels["totals"]["replayed_us"] > 0
    lines = {k["name"]: k["captured"]["source"] for k in kernels["rows"]}
    assert {name: (s["function"], s["line"]) for name, s in lines.items()} == {
        "graph_gemm": ("forward", 8), "graph_add": ("forward", 8), "graph_norm": ("forward", 9)}
    assert all(s["file"].endswith("captures.py") for s in lines.values())
    for ending in ("json", "strata"):
        path = str(tmp_path / f"again.{ending}")
        subprocess.run([PROGRAM, "export", str(run.folder), "-o", path], check=True, capture_output=True,
                       timeout=120)
        again = subprocess.run([PROGRAM, "kernels", path, "--json", "--whole"], check=True,
                               capture_output=True, timeout=120)
        assert json.loads(again.stdout)["totals"] == kernels["totals"]
    done = subprocess.run([PROGRAM, "export", str(run.folder), "--whole", "-o", str(tmp_path / "gpu.folded")],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    stacks = (tmp_path / "gpu.folded").read_text()
    assert re.search(r"decode.*;\(captured\);.*;forward.*;graph_norm \d", stacks), stacks


def graph_launches(run, tmp_path):
    return sum(r["name"].startswith("CUDA graph") for r in run.rows(tmp_path))


@pytest.mark.parametrize("cupti", ["12", "13"])
def test_graphs_as_a_whole(capture, tmp_path, cupti):
    run = capture("capture=5", "instantiate", "graph=5", "graph=5", "graph=5", "sync",
                  options=["--graphs", "whole"], cupti=cupti)
    assert run.status == 0, run.stderr
    assert graph_launches(run, tmp_path) == run.counts()["kernel"] == 3
    assert run.ask("info")["device_work_without_launch"] == 0


@pytest.mark.parametrize("between", [("pause", "resume"), ("stop", "start"), ("profiler", "profiled")])
def test_graphs_as_a_whole_stay_so(capture, tmp_path, between):
    """A graph made while nothing is recorded must not crash; nor is its launch recorded then."""
    run = capture("capture=5", "instantiate", "graph=5", "sync", between[0], "capture=5", "instantiate",
                  "graph=5", "sync", between[1], "sleep=250", "graph=5", "sync",
                  options=["--graphs", "whole"])
    assert run.status == 0, run.stderr
    assert "done" in run.stdout
    if between[0] != "profiler":
        assert graph_launches(run, tmp_path) == 2 and run.ask("info")["device_work_without_launch"] == 0


LATE_GRAPHS = """
    import ctypes, os
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda = ctypes.CDLL("libcuda.so.1")
    import strata

    cuda.cuInit(0)
    cuda.cuGraphInstantiateWithFlags()
    cuda.cuGraphLaunch(3, 0)
    for _ in range(3):
        with strata.timeline():
            cuda.cuGraphLaunch(3, 0)
            cuda.cuStreamSynchronize(0)
        cuda.cuGraphInstantiateWithFlags()
        cuda.cuGraphLaunch(3, 0)
"""


def test_a_program_that_has_graphs_already_gets_them_by_node(capture, tmp_path):
    script = tmp_path / "late.py"
    script.write_text(textwrap.dedent(LATE_GRAPHS))
    run = capture(program=[sys.executable, str(script)], STRATA_TABLE="off", STRATA_GRAPHS="whole")
    assert run.status == 0, run.stderr
    assert run.counts()["kernel"] == 9 and graph_launches(run, tmp_path) == 0


def test_a_cupti_without_ids_of_nodes_records_the_rest(capture, tmp_path):
    script = tmp_path / "captures.py"
    script.write_text(textwrap.dedent(CAPTURES))
    run = capture(command=[sys.executable, str(script)], fake="error=27,at=cuptiGetGraphNodeId")
    assert run.status == 0, run.stderr
    assert run.counts()["kernel"] == 15 and run.ask("info")["device_work_without_launch"] == 0


@pytest.mark.parametrize("fake", ["late=30", "shuffle", "late=30,shuffle", "stray"])
def test_buffers_that_come_late_and_out_of_order(capture, fake):
    run = capture("threads=4", "sync", fake=fake)
    assert run.status == 0 and run.counts()["kernel"] == 4000
    assert run.stderr.count("another profiler uses CUPTI") == (fake == "stray")
    assert run.ask("info")["device_work_without_launch"] == 0


def lost(run):
    return sum(d["count"] for d in run.ask("info")["damage"]["reasons"] if d["reason"] == "lost_records")


@pytest.mark.parametrize("cupti, beats", [("12", 16), ("13", 3)])
def test_another_profiler_takes_the_records_over(capture, cupti, beats):
    """One that does not ask, as torch.profiler since 2026-08: it gets all it wants; we say what we
    have and what is missing, also when the program ends soon after."""
    run = capture("launch=300", "sync", "sleep=300", "profiler", f"beat={beats}", "profiled", "beat=2",
                  cupti=cupti)
    assert run.status == 0, run.stderr
    assert f"profiler: {3 * beats} kernels, 0 strange, 0 unknown\n" in run.stdout
    counts = run.counts()
    assert counts["kernel"] == 300 and counts["cuda_driver"] == 301 + 4 * (beats + 2)
    assert lost(run) == 3 * (beats + 2)
    told = [line for line in run.stderr.splitlines() if "another profiler" in line]
    assert len(told) == 1, run.stderr
    assert re.search(r"took over CUPTI's records \d+\.\d s into the recording; GPU work is missing "
                     r"after that. Run without it", told[0])


def test_the_records_come_back_when_they_are_asked_for(capture):
    run = capture("launch=300", "sync", "sleep=300", "profiler", "beat=14", "launch=6", "sync", "profiled",
                  "pause", "resume", "beat=4")
    assert "profiler: 48 kernels, 0 strange, 0 unknown\n" in run.stdout
    assert run.counts()["kernel"] == 312 and lost(run) == 48  # the last ones just before the pause too
    assert run.stderr.count("took over CUPTI's records") == 1
    assert run.stderr.count("Strata receives CUPTI's records again from ") == 1


def test_another_profiler_while_ours_is_paused(capture):
    run = capture("launch=300", "sync", "pause", "profiler", "beat=3", "profiled", "resume", "beat=3")
    assert "profiler: 9 kernels, 0 strange, 0 unknown\n" in run.stdout
    assert run.counts()["kernel"] == 309 and lost(run) == 0
    assert "another profiler" not in run.stderr


@pytest.mark.parametrize("beats", [2, 14])
def test_another_profiler_that_is_told_of(capture, beats):
    """As torch.profiler is, by its Python side: both have all they can have."""
    run = capture("launch=300", "sync", "other", "profiler", f"beat={beats}", "profiled", "other_ended",
                  "beat=4")
    assert f"profiler: {3 * beats} kernels, 0 strange, 0 unknown\n" in run.stdout
    assert run.counts()["kernel"] == 312 and lost(run) == 3 * beats
    assert run.stderr.count("took over CUPTI's records") == 1
    assert run.stderr.count("Strata receives CUPTI's records again from ") == 1
    assert "another profiler changed CUPTI's clock" not in run.stderr


def test_another_profiler_that_was_there_first_keeps_the_records(capture):
    """A part begins while it records: ours waits for its end, and takes nothing from it."""
    run = capture("launch=300", "sync", "pause", "other", "profiler", "beat=3", "resume", "beat=3",
                  "profiled", "other_ended", "beat=3")
    assert "profiler: 18 kernels, 0 strange, 0 unknown\n" in run.stdout
    assert run.counts()["kernel"] == 309 and lost(run) == 0
    told = [line for line in run.stderr.splitlines() if "another profiler" in line]
    assert len(told) == 1 and "GPU work is not recorded until it has ended" in told[0]


def test_another_profiler_that_is_told_of_and_sees_nothing(capture):
    run = capture("launch=300", "sync", "other", "profiler", "profiled", "other_ended", "beat=2")
    assert run.counts()["kernel"] == 306 and lost(run) == 0
    assert "took over" not in run.stderr and "ran torch.profiler" not in run.stderr


def test_a_profiler_that_subscribes_and_is_told_of(capture):
    run = capture("launch=100", "sync", "other", "subscribe", "launch=50", "sync", "other_ended", "launch=10",
                  "sync")
    assert "subscribe: 39\n" in run.stdout
    assert run.counts()["kernel"] == 160 and lost(run) == 0
    told = [line for line in run.stderr.splitlines() if "ran torch.profiler" in line]
    assert len(told) == 1
    assert "so its trace has no GPU rows; to get them, run without --level timeline" in told[0]


OUTSIDE = "CUPTI gave GPU work times outside the recording"


@pytest.mark.parametrize("beats, every, words, others", [
    (14, "700", "another profiler changed CUPTI's clock", OUTSIDE),
    (1, "5000", OUTSIDE, "another profiler"),
])
def test_times_of_another_clock_are_left_out(capture, tmp_path, beats, every, words, others):
    """What CUPTI had not handed over when the other came has the other's times. Whose they are is
    said where the other was noticed."""
    run = capture("launch=20", "sync", "profiler", f"beat={beats}", "profiled", STRATA_TEST_FLUSH_MS=every)
    assert run.status == 0
    assert run.stderr.count(words) == 1 and others not in run.stderr, run.stderr
    assert all(r["dur"] < 1e6 for r in run.rows(tmp_path)), "microseconds"
    assert untimed(run) >= 20, "the work itself is known"


def untimed(run):
    return sum(d["count"] for d in run.ask("info")["damage"]["reasons"] if d["reason"] == "zero_time")


def test_a_device_that_failed_is_no_other_profiler(capture, tmp_path):
    """What ran when it failed has no times, or some of no clock of ours."""
    run = capture("launch=20", "copy", "launch=20", "copy", "sync", "devsync", fake="fault=30")
    assert run.status == 0
    assert "another profiler" not in run.stderr
    assert run.stderr.count(OUTSIDE) == 1
    assert run.stderr.count("reported that the GPU failed: CUDA error 710 (device-side assert)") == 1
    assert run.counts()["kernel"] == 40 and lost(run) == 0 and untimed(run) > 2
    assert all(r["dur"] < 1e6 for r in run.rows(tmp_path)), "microseconds"


@pytest.mark.parametrize("fake", ["", "late=30"])
def test_a_long_kernel_is_no_other_profiler(capture, fake):
    run = capture("long=1800", "busy=16", "devsync", fake=fake)
    assert run.counts()["kernel"] == 49
    assert "another profiler" not in run.stderr and lost(run) == 0


def test_capturing_a_graph_for_long_is_no_other_profiler(capture):
    run = capture("launch=30", "sync", "sleep=250", "capturing=14", "launch=10", "sync")
    assert run.counts()["kernel"] == 40
    assert "another profiler" not in run.stderr and lost(run) == 0


def test_a_profiler_that_subscribes_is_refused_and_ours_goes_on(capture):
    run = capture("launch=100", "sync", "subscribe", "launch=100", "sync")
    assert run.stdout == "cuInit 0\nsubscribe: 39\ndone\n"
    assert run.counts()["kernel"] == 200 and lost(run) == 0


def test_stopping_and_starting_again(capture):
    run = capture("start", "launch=100", "sync", "stop", "kinds", "launch=50", "sync", "start", "launch=30",
                  "sync")
    assert run.stdout == "cuInit 0\nstart: yes\nkinds: 0\nstart: yes\ndone\n"
    assert run.counts()["kernel"] == 130 and run.ask("info")["device_work_without_launch"] == 0


def test_stopping_lets_another_profiler_in(capture):
    assert "subscribe: 0\n" in capture("launch=10", "sync", "stop", "subscribe").stdout


def test_what_is_launched_while_we_stop_is_there(capture):
    assert capture("launch=100", "sync", "stop", fake="last_moment").counts()["kernel"] == 101


def test_a_start_that_fails_leaves_nothing_on(capture):
    run = capture("kinds", "launch=10", "sync", fake="refuse=2")
    assert run.stdout == "cuInit 0\nkinds: 0\ndone\n"
    assert run.stderr.count("no GPU timeline: GPU records") == 1


@pytest.mark.slow
def test_cupti_does_not_return(capture):
    """Our thread is left to it, and no second one is set beside it."""
    run = capture("launch=10", "sync", "sleep=300", "stop", "start", "launch=5", "sync", fake="stuck",
                  STRATA_TEST_FLUSH_MS="50")
    assert run.status == 0 and "start: no\ndone\n" in run.stdout
    assert run.stderr.count("CUPTI is still busy") == 1
    assert run.counts()["kernel"] == 10


def test_several_threads_pause_and_resume(capture):
    run = capture("launch=100", "sync", "pausers=4", "launch=100", "sync")
    assert run.status == 0 and 200 <= run.counts()["kernel"] <= 1000
    assert "profiler" not in "".join(line for line in run.stderr.splitlines() if line.startswith("strata: "))


def test_a_call_that_began_before_recording(capture, tmp_path):
    """CUPTI calls us at its end alone; what it keeps for us between both ends is anything then."""
    run = capture("launch=10", "sync", "straddle", "launch=10", "sync")
    rows = run.rows(tmp_path)
    assert [r["name"] for r in rows if r["cat"] == "cuda_driver"].count("cuStreamSynchronize") == 2
    assert all(r["dur"] < 60e6 for r in rows), "microseconds"


def test_records_without_times(capture):
    run = capture("launch=1000", "sync", "sleep=150", fake="zero")
    assert run.counts()["kernel"] == 1000
    untimed = [d["count"] for d in run.ask("info")["damage"]["reasons"] if d["reason"] == "zero_time"]
    assert untimed and 50 <= untimed[0] <= 150


def test_records_that_cupti_dropped_are_counted(capture):
    run = capture("launch=100", "sync", "sleep=150", fake="drop=77")
    lost = [d["count"] for d in run.ask("info")["damage"]["reasons"] if d["reason"] == "lost_records"]
    assert lost == [77]


@pytest.mark.parametrize("error, words", [
    ("error=999,at=cuptiSubscribe_v2", "check that a driver is installed"),
    ("error=15,at=cuptiSubscribe_v2", "driver is too old"),
    ("error=35,at=cuptiActivityEnable", "NVreg_RestrictProfilingToAdminUsers=0"),
    ("error=1,at=cuptiActivityRegisterCallbacks", "GPU records"),
    ("error=27,at=cuptiActivityRegisterTimestampCallback", "GPU records"),
    ("held=Nsight Systems", "another profiler is attached (Nsight Systems)"),
])
def test_a_refusal_is_told_once_and_the_program_runs_on(capture, error, words):
    run = capture("launch=10", "sync", fake=error)
    assert run.status == 0 and run.stdout == "cuInit 0\ndone\n"
    told = [line for line in run.stderr.splitlines() if "no GPU timeline" in line]
    assert len(told) == 1 and words in told[0], run.stderr


@pytest.mark.parametrize("code", [1, 2, 7, 8, 9, 13, 19, 27, 33, 40, 41, 45])
def test_every_error_of_every_function_leaves_the_program_alone(capture, tmp_path, code):
    for function in ("cuptiGetVersion", "cuptiEnableCallback", "cuptiActivityEnable",
                     "cuptiActivityFlushAll", "cuptiActivityGetNextRecord",
                     "cuptiActivityGetNumDroppedRecords", "cuptiActivitySetAttribute")[code % 7:][:2]:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        run = capture("launch=5", "sync", fake=f"error={code},at={function}")
        assert run.status == 0 and run.stdout == "cuInit 0\ndone\n", (function, run.stderr)


def test_no_cupti(capture):
    run = capture("launch=10", "sync", APP_CUPTI="", CUDA_HOME="/nowhere",
                  STRATA_CUPTI="/nowhere/libcupti.so")
    assert run.status == 0 and run.stdout == "cuInit 0\ndone\n"
    told = [line for line in run.stderr.splitlines() if "no GPU timeline" in line]
    assert not told or len(told) == 1  # none where a toolkit is installed: its CUPTI is used


def test_no_gpu(capture):
    run = capture("launch=10", FAKE_CUDA_NO_DEVICE="1")
    assert run.status == 0 and run.stdout == "cuInit 100\ndone\n"
    assert run.stderr.count("no GPU work was recorded") == 1


def test_another_tool_holds_the_door(capture):
    run = capture("launch=10", "sync", CUDA_INJECTION64_PATH="none")
    assert run.status == 0
    assert "CUDA_INJECTION64_PATH is set to none" in run.stderr


@pytest.mark.parametrize("ending, status", [
    ("return=7", 7), ("_exit=5", 5), ("abort", -6), ("kill", -9)])
def test_endings(capture, ending, status):
    run = capture("launch=500", "sync", "sleep=300", ending)
    assert run.status == status
    assert run.counts()["kernel"] == 500


def test_a_context_that_ends_takes_nothing_along(capture):
    run = capture("launch=300", "sync", "sleep=150", "launch=50", "sync", "destroy", "return=0")
    assert run.counts()["kernel"] == 350


LAST_MOMENT = """
    import atexit, ctypes, os
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)
    cuda = ctypes.CDLL("libcuda.so.1")
    cuda.cuInit(0)
    {before}
    for _ in range(70):
        cuda.cuLaunchKernel(ctypes.c_char_p(b"gemm"), 1, 0)
    cuda.cuStreamSynchronize(0)
    {after}
"""


@pytest.mark.parametrize("before, after", [
    ("atexit.register(cuda.cuCtxDestroy_v2, None)", "pass"),  # as JAX does
    ("pass", "os._exit(0)"),
    ("pass", "raise SystemExit(0)")])
def test_ends_of_python_programs(capture, tmp_path, before, after):
    script = tmp_path / "last.py"
    script.write_text(textwrap.dedent(LAST_MOMENT).format(before=before, after=after))
    run = capture(command=[sys.executable, str(script)], STRATA_TEST_FLUSH_MS="10000")
    assert run.status == 0
    assert run.counts()["kernel"] == 70


def environment(tmp_path, *packages):
    """A venv in which these folders of site-packages have a libcupti, and an extension module that a
    program would have mapped."""
    site = tmp_path / "venv" / "lib" / "python3.9" / "site-packages"
    for folder, version in packages:
        (site / folder).mkdir(parents=True)
        (site / folder / f"libcupti.so.{version}").symlink_to(FAKES / f"libcupti.so.{version}.fake")
    (site / "cupy").mkdir(parents=True)
    shutil.copy(FAKES / "libcuda.so.1", site / "cupy" / "core.so")
    return site


@pytest.mark.parametrize("packages, expected", [
    ([("nvidia/cu13/lib", "13"), ("nvidia/cuda_cupti/lib", "12")], "nvidia/cu13/lib/libcupti.so.13"),
    ([("nvidia/cuda_cupti/lib", "12")], "nvidia/cuda_cupti/lib/libcupti.so.12")])
def test_libcupti_of_the_wheels(capture, tmp_path, packages, expected):
    """A program that maps none itself: CuPy, Numba."""
    site = environment(tmp_path, *packages)
    script = tmp_path / "cupy_like.py"
    script.write_text(textwrap.dedent("""
        import ctypes, sys
        ctypes.CDLL(sys.argv[1])
        cuda = ctypes.CDLL("libcuda.so.1")
        cuda.cuInit(0)
        for _ in range(30):
            cuda.cuLaunchKernel(ctypes.c_char_p(b"gemm"), 1, 0)
        cuda.cuStreamSynchronize(0)
    """))
    run = capture(command=[sys.executable, str(script), str(site / "cupy" / "core.so")])
    assert run.counts()["kernel"] == 30
    facts = b"".join(p.read_bytes() for p in run.folder.glob("rings/*.defs"))
    assert f"libcupti={site}/{expected}".encode() in facts


ENGINE = Path(__file__).parent.parent / "capture" / "engine.cpp"


def line_of(text):
    return next(i for i, line in enumerate(ENGINE.read_text().splitlines(), 1) if text in line)


@pytest.fixture
def engine(tmp_path):
    """engine(*options): the C++ program, compiled so."""
    def build(*options):
        if not shutil.which("c++"):
            pytest.skip("no C++ compiler")
        program = tmp_path / "engine"
        subprocess.run(["c++", *options, "-o", str(program), str(ENGINE), "-ldl"], check=True)
        return str(program)
    return build


def frames(run, tmp_path):
    return {r["name"] for r in run.rows(tmp_path) if r["cat"] == "python_function"}


@pytest.mark.parametrize("options", [("-g",), ("-g", "-O2"), ("-g", "-O2", "-fomit-frame-pointer")])
def test_lines_of_a_cpp_program(capture, engine, tmp_path, options):
    run = capture(command=[engine(*options)])
    assert run.status == 0
    site = run.ask("syncs", "--whole")["sites"][0]
    assert site["source"]["file"].endswith("engine.cpp")
    assert site["source"]["line"] == line_of("draw waits here")
    names = frames(run, tmp_path)
    assert any(n.endswith("draw<int>") for n in names) and any(n.endswith(": main") for n in names)
    assert not any("__libc_start" in n or "_start" in n for n in names)


def test_a_cpp_program_without_lines(capture, engine, tmp_path):
    program = engine("-O1")
    run = capture(command=[program])
    assert "engine(0): main" in frames(run, tmp_path)


def test_a_stripped_cpp_program(capture, engine, tmp_path):
    if not shutil.which("strip"):
        pytest.skip("no binutils")
    program = engine("-O1")
    subprocess.run(["strip", program], check=True)
    run = capture(command=[program])
    assert run.status == 0
    assert any(re.match(r"engine\+0x[0-9a-f]+\(0\): \?$", n) for n in frames(run, tmp_path))


def test_native_frames_can_be_left_out(capture, engine, tmp_path):
    run = capture(command=[engine("-g")], STRATA_NATIVE="off")
    assert not frames(run, tmp_path)


@pytest.mark.parametrize("place", ["mine", "site-packages"])
def test_python_and_native_frames_are_one_stack(capture, tmp_path, place):
    """Of libraries that were installed only the Python that calls them counts."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    source = tmp_path / "helper.c"
    source.write_text("int cuStreamSynchronize(unsigned);\n"
                      "__attribute__((noinline)) int inner(void)\n{\n"
                      "    int r = cuStreamSynchronize(0);\n    __asm__ volatile(\"\");\n    return r;\n}\n"
                      "int outer(void)\n{\n"
                      "    int r = inner();\n    __asm__ volatile(\"\");\n    return r;\n}\n")
    library = tmp_path / place / "helper.so"
    library.parent.mkdir()
    subprocess.run(["cc", "-g", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    script = tmp_path / "mixed.py"
    script.write_text(textwrap.dedent("""
        import ctypes, os, sys
        ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)
        cuda = ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
        helper = ctypes.CDLL(sys.argv[1])
        cuda.cuInit(0)

        def wait():
            for _ in range(20):
                cuda.cuLaunchKernel(ctypes.c_char_p(b"gemm"), 500, 0)
                helper.outer()
        wait()
    """))
    run = capture(command=[sys.executable, str(script), str(library)])
    assert run.status == 0
    names = frames(run, tmp_path)
    mine = place == "mine"
    assert any(n.endswith("mixed.py(8): wait") for n in names), names
    assert any(n.endswith("helper.c(4): inner") for n in names) == mine, names
    assert any(n.endswith("helper.c(10): outer") for n in names) == mine, names
    assert not any("(0):" in n for n in names), names  # Python's own library has no lines


def test_the_end_comes_while_we_fetch(capture):
    run = capture("launch=100", "sync", "sleep=120", "launch=50", "return=3", fake="slow")
    assert run.status == 3 and run.counts()["kernel"] == 150


def test_what_is_under_way_when_the_program_ends_is_there(capture):
    run = capture("launch=400", "return=0")
    assert run.counts()["kernel"] == 400
    assert run.ask("info")["device_work_without_launch"] == 0


KILLED = """
    import ctypes, os, signal, strata, time
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")
    cuda.cuInit(0)
    n, end = 0, time.monotonic() + 2.5
    while time.monotonic() < end:
        with strata.stage("step"):
            for _ in range(50):
                cuda.cuLaunchKernel(kernel, 1, 0)
            cuda.cuStreamSynchronize(0)
        n += 1
        time.sleep(0.001)
    print(n, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_program_that_is_ended_has_a_diagnosis(capture, tmp_path):
    """Device records of the last moments are lost with it: those steps are left out, and the others are
    looked at."""
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED))
    run = capture(command=[sys.executable, str(script)])
    assert run.status in (-15, 143), run.stderr
    n, report = int(run.stdout), run.ask("report")
    assert run.counts()["kernel"] < 50 * n
    assert report["part"]["lost_end"] and 0.7 * n < report["part"]["calls"] < n
    for asked, is_told in (((), False), (("--whole",), True)):
        problems = {d["id"] for d in run.ask("report", *asked)["trace_quality"]["problems"]}
        assert ("records_stop_early" in problems) == is_told, problems
    assert "the device records of the end are lost" in run.stderr


def test_kill_loses_at_most_what_was_not_fetched(capture):
    run = capture("launch=500", "sync", "sleep=250", "launch=50", "kill")
    assert 500 <= run.counts()["kernel"] <= 550
    assert run.counts()["cuda_driver"] == 551


def test_fork(capture):
    run = capture("launch=200", "sync", "fork", "sleep=50", "return=4")
    assert run.status == 4
    assert run.counts()["kernel"] == 200
    assert run.ask("info")["processes"] <= 2  # the program and its device; the child did nothing


def test_children_that_end_while_we_fetch(capture):
    """They run the end of libraries whose locks our thread may have held when they were made."""
    run = capture("launch=200", "sync", "forks=20", "launch=10", "sync", fake="slow")
    assert run.status == 0 and run.counts()["kernel"] == 210


def test_fork_before_cuda(capture):
    text = f"""
import os, subprocess
if os.fork() == 0:
    os.execv({str(FAKES / 'capture_app')!r}, ["app", "launch=30", "sync"])
os.wait()
subprocess.run([{str(FAKES / 'capture_app')!r}, "launch=40", "sync"], check=True)
"""
    run = capture(command=[sys.executable, "-c", text])
    assert run.status == 0, run.stderr
    assert run.counts()["kernel"] == 70
    assert run.ask("info")["device_work_without_launch"] == 0


def test_threads_streams_and_devices(capture, tmp_path):
    run = capture("threads=5", "device1=20", "devsync", FAKE_CUDA_DEVICES="2")
    rows = run.rows(tmp_path)
    kernels = [r for r in rows if r["cat"] == "kernel"]
    assert len(kernels) == 5020
    assert {r["args"]["device"] for r in kernels} == {0, 1}
    assert len({r["args"]["stream"] for r in kernels if r["args"]["device"] == 0}) == 5
    assert len({r["tid"] for r in rows if r["name"] == "cuLaunchKernel"}) == 6
    assert len(run.ask("info")["devices"]) == 2


TWO_PROCESSES = """
    import os, subprocess, sys
    app, words = sys.argv[1], ["launch=50", "sync", "sleep=200"]
    both = [subprocess.Popen([app, *words], env={**os.environ, "CUDA_VISIBLE_DEVICES": v})
            for v in sys.argv[2:]]
    sys.exit(sum(p.wait() for p in both))
"""


def two_processes(capture, tmp_path, *visible):
    script = tmp_path / "two.py"
    script.write_text(textwrap.dedent(TWO_PROCESSES))
    run = capture(command=[sys.executable, str(script), str(FAKES / "capture_app"), *visible])
    assert run.status == 0 and run.counts()["kernel"] == 100
    return run


def test_two_processes_on_two_devices_stay_apart(capture, tmp_path):
    """Both call theirs number 0; the user calls them 2 and 5."""
    run = two_processes(capture, tmp_path, "2", "5")
    devices = {d["id"]: d for d in run.ask("info")["devices"]}
    assert set(devices) == {2, 5}
    assert devices[2]["uuid"].endswith("02") and devices[5]["uuid"].endswith("05")
    assert devices[5]["visible_as"] == "5"
    rows = run.rows(tmp_path)
    assert sorted({r["args"]["device"] for r in rows if r["cat"] == "kernel"}) == [2, 5]
    text = subprocess.run([PROGRAM, "report", "--whole", str(run.folder)], capture_output=True, text=True,
                          check=True).stdout
    assert " x 2" in text.splitlines()[0] and "processes use GPU" not in text


def test_two_processes_on_one_device_share_it(capture, tmp_path):
    run = two_processes(capture, tmp_path, "3", "3")
    assert [d["id"] for d in run.ask("info")["devices"]] == [0]
    rows = [r for r in run.rows(tmp_path) if r["cat"] == "kernel"]
    assert {r["args"]["device"] for r in rows} == {0}
    assert len({(r["pid"], r["tid"]) for r in rows}) == 2  # streams of their own
    text = subprocess.run([PROGRAM, "report", "--whole", str(run.folder)], capture_output=True, text=True,
                          check=True).stdout
    assert "2 processes use GPU 0, which is busy with the work of all of them" in text


def test_devices_of_one_process_keep_its_numbers(capture, tmp_path):
    run = capture("launch=20", "device1=20", "devsync", "sleep=200", FAKE_CUDA_DEVICES="2",
                  CUDA_VISIBLE_DEVICES="3,1")
    devices = run.ask("info")["devices"]
    assert [(d["id"], d["visible_as"], d["uuid"][-2:]) for d in devices] == [(0, "3", "03"), (1, "1", "01")]
    text = subprocess.run([PROGRAM, "info", str(run.folder)], capture_output=True, text=True, check=True)
    assert "(CUDA_VISIBLE_DEVICES: 3)" in text.stdout


def test_a_fatal_error_inside_cupti(capture):
    run = capture("launch=2000", "sync", fake="fatal")
    assert run.status == 0
    assert run.stderr.count("CUPTI stopped after a fatal error") == 1


@pytest.mark.slow
def test_many_records_in_little_memory(capture, tmp_path):
    """At the pace of ten million a minute: memory is that of the buffers, not of the records."""
    peaks = []
    for n in (20000, 300000):
        text = f"""
import resource, subprocess
subprocess.run([{str(FAKES / 'capture_app')!r}, "steady={n}", "sync"], check=True)
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
        run = capture(command=[sys.executable, "-c", text], STRATA_BUFFER_MB="16")
        counts = run.counts()
        assert counts["kernel"] == n and counts["cuda_driver"] == n + 1
        rings = sum(p.stat().st_size for p in (run.folder / "rings").iterdir())
        assert rings < n * 70 + (4 << 20)
        peaks.append(int(run.stdout.split("peak")[1]))
        shutil.rmtree(tmp_path / "out")
    assert peaks[1] < peaks[0] + 24 * 1024, peaks  # KB


def ask_text(run, *command, status=0):
    done = subprocess.run([PROGRAM, command[0], str(run.folder), *command[1:]], capture_output=True,
                          text=True, check=False, timeout=120,
                          env=clean_environment(STRATA_TEST_MOST_RECORDS="40000"))
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_a_recording_too_long_to_be_read(capture):
    """Also by strata run itself, which reads it once."""
    run = capture("launch=15000", "sync", "launch=15000", "sync", "sleep=200",
                  STRATA_TEST_MOST_RECORDS="40000")
    assert run.status == 0
    assert len(list(run.folder.glob("rings/*.index"))) >= 2
    assert re.search(r"trace.json.gz holds a part of the 12\d,\d\d\d records", run.stderr), run.stderr
    for command in ("report", "steps", "info"):
        text = ask_text(run, command)
        assert re.search(r"shown: .* of the .* recorded, from .* on", text), text
        assert re.search(r"left out: the rest of 12\d,\d\d\d records \(--at TIME", text), text
    whole = json.loads(ask_text(run, "report", "--whole", "--json"))
    assert sum(k["calls"] for k in whole["kernels"]) == 30000 and len(whole["parts"]) > 5
    assert "added up from" in ask_text(run, "report", "--whole")
    for command in ("kernels", "table"):
        rows = json.loads(ask_text(run, command, "--whole", "--json"))["kernels"]
        assert sum(k["calls"] for k in rows if k["time_us"]) == 30000
        assert "added up from" in ask_text(run, command, "--whole")
        only = "min_us" if command == "kernels" else "self_cpu_us"
        assert [k for k in ("min_us", "self_cpu_us") if k in rows[0]] == [only]
    most = json.loads(ask_text(run, "kernels", "--whole", "--json"))["kernels"][0]
    shown = next(line for line in ask_text(run, "kernels", "--whole").splitlines() if most["name"] in line)
    assert f"{most['calls']:,}" in shown and f"{most['time_pct']:.1f} %" in shown, shown
    idlest = min(whole["parts"], key=lambda p: p["gpu_busy_pct"])
    table = ask_text(run, "report", "--whole").split("idles most")[1].splitlines()
    if idlest["gpu_busy_pct"] < 0.05:
        assert " - " in table[2], table[:4]  # a part may be a pause
    else:
        busy = float(re.search(r"([\d.]+) %", table[2]).group(1))
        assert busy == pytest.approx(idlest["gpu_busy_pct"], abs=0.06), table[:4]
    assert len(json.loads(ask_text(run, "steps", "--whole", "--json"))["parts"]) == len(whole["parts"])
    assert "median step" in ask_text(run, "steps", "--whole")
    assert "--by does not go with --whole" in ask_text(run, "table", "--whole", "--by", "shape", status=2)
    assert "table add it up with --whole" in ask_text(run, "gaps", "--whole", status=2)
    assert re.search(r"from (\d+|[\d.]+ us|\d\d?(\.\d+)? ms) on", ask_text(run, "report", "--at", "1us"))
    assert "--at shows one part" in ask_text(run, "report", "--at", "1us", "--whole", status=2)


@pytest.mark.parametrize("cupti", ["12", "13"])
def test_more_than_can_be_kept_is_counted(capture, cupti):
    run = capture("launch=120000", "sync", STRATA_BUFFER_MB="8", cupti=cupti)
    lost = [d["count"] for d in run.ask("info")["damage"]["reasons"] if d["reason"] == "lost_records"]
    assert run.counts()["kernel"] + sum(lost) in (120000, 120001)  # the sync's record may be one


@pytest.fixture
def recorded(tmp_path):
    """Buffers that CUPTI 13.0 filled on an H200: the start of torch, 600 launches, copies, syncs."""
    path = tmp_path / "recorded.bin"
    data = Path(__file__).parents[1] / "data" / "capture" / "h200_cupti_13.0.bin.gz"
    path.write_bytes(gzip.decompress(data.read_bytes()))
    return path


def walk(library, recorded):
    return subprocess.run([str(FAKES / "capture_walk"), str(library), str(recorded)],
                          capture_output=True, text=True, check=True).stdout.splitlines()


def test_real_buffers_through_the_whole_path(capture, recorded, tmp_path):
    run = capture("sleep=200", fake=f"replay={recorded}")
    assert run.status == 0, run.stderr
    kinds = collections.Counter(line.split()[1] for line in walk(FAKES / "libcupti.so.13.fake", recorded))
    counts = run.counts()
    assert counts["kernel"] == kinds["10"] == 662
    assert counts["gpu_memcpy"] == kinds["1"] == 6
    assert counts["cuda_sync"] == kinds["38"] == 7
    names = collections.Counter(r["name"] for r in run.rows(tmp_path) if r["cat"] == "kernel")
    assert names["nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT"] == 300
    assert any(n.startswith("void at::native::vectorized_elementwise_kernel<8, ") for n in names)
    assert not any(n.startswith("_Z") for n in names)


@pytest.fixture
def real_cupti():
    for folder in ("lib64", "lib", "extras/CUPTI/lib64"):
        path = f"/usr/local/cuda/{folder}/libcupti.so.13"
        if os.path.exists(path):
            return path
    return pytest.skip("no libcupti.so.13 in /usr/local/cuda to compare with")


def test_the_real_library_on_a_driver_that_is_none(capture, real_cupti):
    run = capture("launch=10", "sync", APP_CUPTI=real_cupti)
    assert run.status == 0 and run.stdout == "cuInit 0\ndone\n"
    assert run.stderr.count("no GPU timeline: CUPTI reports an unknown error") == 1, run.stderr


def test_our_record_sizes_are_those_of_the_real_library(recorded, real_cupti):
    found = walk(real_cupti, recorded)
    assert len(found) > 1000
    assert found == walk(FAKES / "libcupti.so.13.fake", recorded)


def test_the_library_needs_nothing_of_cuda():
    done = subprocess.run(["readelf", "-d", str(LIBRARY)], capture_output=True, text=True, check=True)
    needed = [line.split("[")[1].rstrip("]") for line in done.stdout.splitlines() if "NEEDED" in line]
    assert all(name.split(".")[0] in ("libc", "libpthread", "libdl", "libm", "ld-linux-x86-64",
                                      "ld-linux-aarch64") for name in needed), needed


def test_doctor():
    done = subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, text=True, check=True,
                          timeout=60, env=clean_environment(CUDA_INJECTION64_PATH="/opt/nsys.so"))
    found = json.loads(done.stdout)
    checks = {c["id"]: c for c in found["checks"]}
    assert checks["library"]["state"] == "ok"
    assert checks["CUDA_INJECTION64_PATH"]["state"] == "missing"
    assert "/opt/nsys.so" in checks["CUDA_INJECTION64_PATH"]["found"]
    assert all(c["remedy"] for c in found["checks"] if c["state"] == "missing")
    assert found["timeline"] in ("torch.profiler", "none")


def test_doctor_with_a_gpu(tmp_path):
    (tmp_path / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
    done = subprocess.run([PROGRAM, "doctor"], capture_output=True, text=True, check=True, timeout=60,
                          env=clean_environment(LD_LIBRARY_PATH=tmp_path, FAKE_CUDA_DEVICES=2))
    assert "CUDA 13.0, 2 GPUs: Fake GPU 0" in done.stdout
    assert "next: strata run --level timeline" in done.stdout


@pytest.mark.parametrize("mig", [0, 1])
def test_doctor_with_partitions(tmp_path, mig):
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        (tmp_path / name).symlink_to(FAKES / name)
    done = subprocess.run([PROGRAM, "doctor"], capture_output=True, text=True, check=True, timeout=60,
                          env=clean_environment(LD_LIBRARY_PATH=tmp_path, FAKE_NVML=f"mig={mig}"))
    assert ("in partitions (MIG): without clocks" in " ".join(done.stdout.split())) == bool(mig)


def test_a_recording_of_an_h200_against_torch_profiler(tmp_path):
    """The same work, twice under `strata run` and once under torch.profiler: 300 launches and an
    .item(), copies, a nonzero, another stream, a CUDA graph replayed twenty times."""
    data = Path(__file__).parents[1] / "data" / "capture"
    shutil.unpack_archive(data / "h200_mix_rings.tgz", tmp_path)

    def ask(command, trace, *options):
        done = subprocess.run([PROGRAM, command, str(trace), "--json", *options], capture_output=True,
                              text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    def kernels(trace):
        return {row["name"]: row["calls"] for row in ask("kernels", trace, "--whole")["rows"]}

    ours, torch = kernels(tmp_path), kernels(data / "h200_mix_torch.json.gz")
    assert sum(torch.values()) == 772
    assert ours == {name: 2 * n for name, n in torch.items()}
    info = ask("info", tmp_path)
    assert info["device_work_without_launch"] == 0 and not info["damage"]["reasons"]
    sites = {(s["kind"], s["source"]["line"]) for s in ask("syncs", tmp_path, "--whole")["sites"]
             if s["kind"] in ("readback", "constant_upload") and s["source"]["file"] == "mix.py"}
    assert ("readback", 5) in sites and ("readback", 6) in sites  # .item() and nonzero()


def test_a_diffusers_pipeline_recorded_on_an_h200(tmp_path):
    """Flux.2 Klein of diffusers 0.37, compiled, eight calls of two steps, unmodified under `strata run`:
    what torch.profiler's trace of one call shows, with the lines that were running."""
    data = Path(__file__).parents[1] / "data" / "capture"
    shutil.unpack_archive(data / "h200_flux2_rings.txz", tmp_path, "xztar")

    def ask(command, *options):
        done = subprocess.run([PROGRAM, command, str(tmp_path), "--json", *options], capture_output=True,
                              text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    report = ask("report")
    assert (report["part"]["name"], report["part"]["calls"], report["part"]["cold_calls"]) == \
        ("pipeline_call", 7, 1)
    assert report["bound"] == "gpu" and report["gpu_busy_pct"] > 94
    first = report["findings"][0]
    assert (first["rule"], first["source"]["line"]) == ("sync_in_loop", 415)
    assert first["source"]["file"] == "diffusers/pipelines/flux2/pipeline_flux2_klein.py"
    assert first["predicted_gain_pct"] < 5 and first["predicted_gain_alone_pct"] < 0.5  # measured: 0.5 %
    calls = {stage["path"]: stage["count"] for stage in ask("stages")["stages"]}
    assert calls == {"pipeline_call": 7, "pipeline_call/encode_prompt": 14,
                     "pipeline_call/transformer_forward": 28, "pipeline_call/scheduler_step": 14}
    walks = {c["source"]["function"] for c in ask("gaps")["causes"][:10] if c.get("source")}
    assert {"_set_context", "get_parameter_dtype"} <= walks  # what cache_context does
    assert ask("info")["device_work_without_launch"] == 0

    def text(*words):
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    trace = str(tmp_path)
    part = "shown: 7 calls of pipeline_call"
    assert part in text("whatif", trace) and text("diff", trace, trace).count(part) == 2
    ahead = text("report", trace, "--whole").partition("next: ")[2]
    assert part not in ahead and ahead.count(f"{trace} --whole") == ahead.count(trace) > 0


PROGRAM_ON_A_CPU = """
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.GELU(), torch.nn.Linear(32, 32))
    {more}
    with torch.profiler.record_function("work"):
        for _ in range(20):
            model(torch.ones(4, 32))
    print("done")
"""


def run_on_a_cpu(tmp_path, more=""):
    script = tmp_path / "pipe.py"
    script.write_text(textwrap.dedent(PROGRAM_ON_A_CPU).format(more=more))
    done = subprocess.run([PROGRAM, "run", "-o", str(tmp_path / "out"), "--level", "timeline", "--",
                           sys.executable, str(script)], capture_output=True, text=True, timeout=300,
                          check=False, cwd=tmp_path, env=clean_environment(PYTHONPATH=""))
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr
    return Run(done, tmp_path / "out")


def operators(run):
    return {r["name"]: r["calls"] for r in run.ask("table", "--limit", "0", "--whole")["rows"]}


def test_a_timeline_without_a_device(tmp_path):
    """Everything there is: operators, ranges, functions; and why there is no more, once."""
    run = run_on_a_cpu(tmp_path)
    assert not (run.folder / "torch_trace.json.gz").exists()
    found = operators(run)
    assert found["aten::addmm"] == 40 and found["aten::gelu"] == 20
    assert run.counts()["user_annotation"] >= 1
    assert run.stderr.count("no GPU work was recorded") == 1


def test_a_run_and_its_report_agree_on_the_wall_clock(tmp_path):
    """The table has the program's time, the report that of its events: they are one, or both are named."""
    pytest.importorskip("torch")
    (tmp_path / "work.py").write_text(textwrap.dedent("""
        import time, strata, torch
        time.sleep(0.5)
        with strata.stage("work"):
            torch.ones(100).sum()
    """))
    command = [PROGRAM, "run", "--level", "timeline", "-o", str(tmp_path), "--"]
    done = subprocess.run([*command, sys.executable, str(tmp_path / "work.py")], check=True,
                          capture_output=True, text=True, env=clean_environment())

    def seconds(pattern):
        value, unit = re.search(pattern + r"([\d.]+) (m?s)\b", done.stderr).groups()
        return float(value) / (1000 if unit == "ms" else 1)
    table, report = seconds(r"work   "), seconds(r"No GPU work in this trace: ")
    named = re.search(r"timing.json: ([\d.]+ m?s), from loading strata", done.stderr)
    assert table > 0.5 and (report == pytest.approx(table, rel=0.1) or named), done.stderr


WAITING_LOOP = """
    import sys, time, torch
    class Data(torch.utils.data.Dataset):
        def __len__(self): return 240
        def __getitem__(self, i):
            time.sleep(0.002)
            return torch.ones(16)
    def main():
        model = torch.nn.Linear(16, 4)
        for x in torch.utils.data.DataLoader(Data(), batch_size=4):
            model(x).sum().backward()
    if "profiler" in sys.argv:
        with torch.profiler.profile(with_stack=True) as p:
            main()
        p.export_chrome_trace("trace.json")
    else:
        main()
"""


@pytest.mark.parametrize("way", ["recording", "profiler"])
def test_a_loop_that_waits_for_its_loader(tmp_path, way):
    """Without a device: every batch is counted, start-up is not, and the fix is named and tried."""
    pytest.importorskip("torch")
    (tmp_path / "waits.py").write_text(textwrap.dedent(WAITING_LOOP))
    command = [sys.executable, "waits.py", way]
    if way == "recording":
        command = [PROGRAM, "run", "--level", "timeline", "-o", "runs", "--", *command]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, env=clean_environment())
    (of,) = tmp_path.glob("runs/*/*" if way == "recording" else "trace.json")
    done = subprocess.run([PROGRAM, "report", "--json", str(of)], check=True, capture_output=True,
                          text=True, env=clean_environment())
    report = json.loads(done.stdout)
    assert report["cpu"]["data_waits"] >= 55, report["cpu"]
    (found,) = [f for f in report["findings"] if f["rule"] == "data_loader"]
    assert found["predicted_gain_pct"] > 20 and report["answer"]["kind"] == "faster", report["answer"]
    assert "The loop waits for data" in report["answer"]["headline"]
    assert all(f["share_pct"] <= 100 for f in report["cpu"]["functions"])
    if way == "recording":
        assert report["wall_us"] < 0.9 * report["part"]["recorded_us"], report["part"]


def test_a_trainer_that_is_called_once(tmp_path):
    """The stage around the loop is one call: the rounds of the loop are shown, without start-up."""
    pytest.importorskip("torch")
    text = textwrap.dedent(WAITING_LOOP).replace("    main()\n", "    with strata.stage('train'): main()\n")
    (tmp_path / "once.py").write_text("import strata\n" + text)
    subprocess.run([PROGRAM, "run", "--level", "timeline", "-o", "runs", "--", sys.executable, "once.py"],
                   check=True, cwd=tmp_path, capture_output=True, env=clean_environment())
    (of,) = tmp_path.glob("runs/*/*")
    done = subprocess.run([PROGRAM, "report", "--json", str(of)], check=True, capture_output=True,
                          text=True, env=clean_environment())
    report = json.loads(done.stdout)
    assert report["part"]["calls"] >= 50, report["part"]
    (found,) = [f for f in report["findings"] if f["rule"] == "data_loader"]
    assert report["answer"]["gain_pct"] == pytest.approx(found["predicted_gain_pct"], abs=10)


def test_one_part_of_only_python(program):
    """It leaves no other part out, and its wall time is that of its functions."""
    done = program("""
        import strata, time
        def work():
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                sum(range(1000))
        with strata.timeline() as part:
            work()
        print(part.report())
    """)
    assert done.status == 0, done.stderr
    assert "shown: part 1 of 1" in done.stdout and "left out" not in done.stdout, done.stdout
    wall = re.search(r"No GPU work in this trace: (\d+) ms of CPU time", done.stdout)
    assert wall and 250 < int(wall[1]) < 3000, done.stdout
    share = re.search(r"work .*?([\d.]+) %", done.stdout)
    assert share and float(share[1]) > 40, done.stdout


def test_parts_without_a_device(program):
    """Every part has its own report and its own choice of operators; all of them are the default where
    nothing else can be seen."""
    done = program("""
        import torch, strata
        x = torch.ones(64)
        parts = []
        for ops, name in ((None, "tanh"), ("off", "sigmoid"), ("user", "exp"), ("all", "relu")):
            with strata.timeline(*[ops] if ops else []) as part:
                for _ in range(10):
                    with torch.profiler.record_function(name + " label"):
                        getattr(torch, name)(x)
            parts.append(part)
        x.cos()
        for part in parts:
            assert f"part {part.number} of 4" in part.report(), part.report()
        print(parts[0].folder)
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr
    folder = done.stdout.strip()

    def names(*options):
        told = subprocess.run([PROGRAM, "table", folder, "--limit", "0", "--json", *options], check=True,
                              capture_output=True, text=True, env=clean_environment())
        return {row["name"] for row in json.loads(told.stdout)["rows"]}

    assert {"aten::tanh", "tanh label"} <= names("--part", "1")
    assert not {"aten::sigmoid", "sigmoid label", "aten::tanh"} & names("--part", "2")
    assert "exp label" in names("--part", "3") and "aten::exp" not in names("--part", "3")
    assert "aten::relu" in names("--part", "4") and "aten::tanh" not in names("--part", "4")
    assert names() == names("--part", "4")
    assert {"aten::tanh", "aten::relu"} <= names("--whole") and "aten::cos" not in names("--whole")


def test_the_library_is_told_of_torchs_monitor(program):
    """As torch 2.13 has it: it starts and stops, also in vain, and may run already."""
    done = program("""
        import types
        from strata._timeline import other_profiler

        class CuptiMonitor:
            _started = False

            def start(self):
                if self._started:
                    raise RuntimeError("already started")
                if calls[-1:] == ["refuse"]:
                    raise RuntimeError("no CUPTI")
                self._started = True

            def stop(self):
                self._started = False

        calls, running = [], CuptiMonitor()
        running.start()
        module = types.SimpleNamespace(CuptiMonitor=CuptiMonitor, get_monitor=lambda: running)
        other_profiler.watch_monitor(module, calls.append)
        assert calls == [1]
        running.stop()
        running.stop()
        assert calls == [1, 0]
        other = CuptiMonitor()
        other.start()
        try:
            other.start()
        except RuntimeError:
            calls.append("again")
        other.stop()
        assert calls == [1, 0, 1, "again", 0]
        calls.append("refuse")
        CuptiMonitor.start.__wrapped__.__globals__["calls"] = ["refuse"]
        told = []
        module.get_monitor = lambda: None
        other_profiler.watch_monitor(module, told.append)
        try:
            CuptiMonitor().start()
        except RuntimeError:
            told.append("refused")
        assert told == [1, 0, "refused"], told
        from torch.profiler import _cupti_monitor as real
        assert callable(real.CuptiMonitor.start) and callable(real.CuptiMonitor.stop)
        assert real.get_monitor() is None and "_started" in real.CuptiMonitor.start.__code__.co_names
        print("done")
    """)
    assert done.status == 0 and done.stdout == "done\n", done.stderr


def test_the_library_is_told_of_torch_profiler(program):
    """Of those that want a GPU, around all they do with it; their results are what they were."""
    done = program(f"""
        import os, torch
        from strata._timeline import other_profiler, torch_fallback
        calls = []
        other_profiler.watch(torch.autograd.profiler.profile, calls.append)
        with torch.profiler.profile() as plain:
            torch.ones(3) + 1
        assert calls == [] and any(e.key == "aten::add" for e in plain.key_averages())
        there = torch.autograd.profiler.profile()
        there.use_device = "cuda"
        there._prepare_trace()
        assert calls == [1]
        there.use_device = None  # there is none to wait for
        there._start_trace()
        torch.ones(3) + 1
        assert calls == [1] and there.__exit__(None, None, None) is False
        assert calls == [1, 0] and any(e.key == "aten::add" for e in there.key_averages())

        os.environ["CUDA_INJECTION64_PATH"] = {str(LIBRARY)!r}
        torch_fallback.NVIDIA, torch.version.cuda = ("/",), "13.0"
        before = torch.autograd.profiler.profile._prepare_trace
        torch_fallback._torch_is_there(torch)
        assert torch.autograd.profiler.profile._prepare_trace.__wrapped__ is before
        torch_fallback._tell_of_other(1)  # nothing is recorded here: it goes by
        print("done")
    """)
    assert done.status == 0 and done.stdout == "done\n", done.stderr


def test_torch_profiler_takes_over(tmp_path):
    """As on an accelerator that is none of ours: from the first call of a module on."""
    run = run_on_a_cpu(tmp_path, "from strata._timeline import torch_fallback as fallback\n"
                                 "fallback._wait_for_a_module(torch)")
    assert (run.folder / "torch_trace.json.gz").exists()
    assert operators(run)["aten::addmm"] == 40
    assert run.stderr.count("this timeline comes from torch.profiler") == 1
