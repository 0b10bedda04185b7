"""The Python side of a capture: stacks without the GIL, samples, operators. Against lines that are
known beforehand, and against torch's own profiler."""
from __future__ import annotations

import collections
import glob
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import ring_reader

HERE = Path(__file__).parent
BUILD = Path(os.environ["STRATA_BUILD"])
PROBE = BUILD / "tests" / "pyprobe.so"


def interpreters() -> list[str]:
    """Every CPython from 3.10 on that can be found here, one of each version."""
    places = [sys.executable, *sorted(glob.glob("/usr/bin/python3*")),
              *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))]
    found: dict[str, str] = {}
    for path in places:
        ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name)"
        try:
            done = subprocess.run([path, "-c", ask], capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        version, _, name = done.stdout.strip().partition(" ")
        if name == "cpython" and tuple(map(int, version.split("."))) >= (3, 10):
            found.setdefault(version, path)
    return list(found.values())


def run(script: str, folder: Path, *args: str, python: str = sys.executable) -> str:
    """Runs a program that begins with the probe loaded as `probe`, recording into `folder`."""
    start = (f"import ctypes, sys\nprobe = ctypes.PyDLL({str(PROBE)!r})\n"
             f"probe.probe_trouble.restype = ctypes.c_char_p\n"
             f"probe.probe_start({str(folder).encode()!r})\n")
    path = folder.parent / f"{folder.name}.py"
    path.write_text(start + script)
    done = subprocess.run([python, str(path), *args], capture_output=True, text=True, timeout=300,
                          cwd=folder.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


def stacks(folder: Path, kind: str) -> list[tuple[ring_reader.Record, list[ring_reader.Frame]]]:
    """All stacks of a recording with one process, innermost frame first."""
    (defs,) = (folder / "rings").glob("*.defs")
    frames = ring_reader.frames(defs)
    return [(r, ring_reader.stack(frames, r.id))
            for ring in sorted((folder / "rings").glob("*.ring"))
            for r in ring_reader.records(ring) if r.kind == ring_reader.KINDS[kind]]


@pytest.mark.parametrize("python", interpreters())
def test_every_line_is_right(python: str, tmp_path: Path) -> None:
    subprocess.run([python, str(HERE / "walk_load.py"), str(PROBE), str(tmp_path / "run"), "10"],
                   check=True, timeout=600)
    seen = stacks(tmp_path / "run", "stack")
    wrong = [(s[0], r.value) for r, s in seen if s[0].line != r.value]
    assert len(seen) > 3000
    assert not wrong, wrong[:5]
    assert all(s[0].code.split("(")[0] in ("program.py", "passing.py") for _, s in seen)


def test_the_whole_stack(tmp_path: Path) -> None:
    out = run("""
import traceback
probe.probe_init()
mark = ctypes.CDLL(probe._name).probe_mark
def inner(depth):
    if depth:
        return inner(depth - 1)
    mark(1)
    return [(f.name, f.lineno - (f.name == 'inner' and f.line.startswith('return [')))
            for f in reversed(traceback.extract_stack())]
class Größe:
    def método(self):
        return inner(2)
import json
print(json.dumps(Größe().método()))
""", tmp_path / "run")
    truth = [tuple(f) for f in json.loads(out)]
    ((_, stack),) = stacks(tmp_path / "run", "stack")
    ours = [(f.code.split("): ")[1], f.line) for f in stack]
    assert ours[0][0] == "inner" and ours[1:] == truth[1:]


PLANTED = """
import time
probe.probe_side(1000, 0)
assert not any(probe.probe_trouble(p) for p in (b"stacks", b"samples"))
def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def planted():
    busy(0.06)
def other():
    busy(0.02)
def sleeper():
    time.sleep(0.02)
for _ in range(10):
    planted()
    other()
    sleeper()
probe.probe_stop()
"""


@pytest.mark.parametrize("python", interpreters())
def test_samples_find_what_takes_the_time(python: str, tmp_path: Path) -> None:
    run(PLANTED, tmp_path / "run", python=python)
    counts: collections.Counter[str] = collections.Counter()
    for record, stack in stacks(tmp_path / "run", "stack_of"):
        names = [f.code.split("): ")[1] for f in stack]
        assert names[-1] == "<module>"
        counts[names[-2] if len(names) > 1 else ""] += 1
    assert counts["planted"] > 100
    assert 1.8 < counts["planted"] / counts["other"] < 5
    assert counts["sleeper"] >= 8  # a thread that stands is read once each time


GENERATORS = """
import time
probe.probe_side(10000, 0)
def count(n):
    for i in range(n):
        yield i
end = time.thread_time() + 0.5
while time.thread_time() < end:
    for _ in count(50):
        pass
probe.probe_stop()
"""


@pytest.mark.parametrize("python", interpreters())
def test_a_generator_is_never_alone(python: str, tmp_path: Path) -> None:
    """While it is resumed or left it hangs on nothing: such samples are not kept."""
    run(GENERATORS, tmp_path / "run", python=python)
    outermost = {s[-1].code.split("): ")[1] for _, s in stacks(tmp_path / "run", "stack_of")}
    assert outermost == {"<module>"}


def test_samples_become_functions_with_their_share(tmp_path: Path) -> None:
    run(PLANTED, tmp_path / "run")
    out = tmp_path / "out.json"
    subprocess.run([BUILD / "src" / "strata", "export", tmp_path / "run", "-o", out], check=True,
                   stdout=subprocess.DEVNULL)
    time: collections.Counter[str] = collections.Counter()
    calls: collections.Counter[str] = collections.Counter()
    for e in json.loads(out.read_text())["traceEvents"]:
        if e.get("cat") == "python_function":
            name = e["name"].split("): ")[1]
            time[name] += e["dur"] / 1e3
            calls[name] += 1
    total = time["<module>"]
    # A machine that is short of time may let a call of 20 ms go by between two samples.
    assert all(8 <= calls[name] <= 12 for name in ("planted", "other", "sleeper")), calls
    assert time["planted"] + time["other"] + time["sleeper"] == pytest.approx(total, rel=0.1)
    assert time["planted"] > 1.5 * time["other"] and time["sleeper"] > 140


SHUTDOWN = {
    "exit with busy threads": """
import threading, itertools
for _ in range(3):
    threading.Thread(target=lambda: [probe.probe_side(5000, 0)] + [None for i in itertools.count()],
                     daemon=True).start()
time.sleep(0.2)
""",
    "threads that come and go": """
import threading
def work():
    probe.probe_side(5000, 0)
    sum(i for i in range(3000))
for _ in range(200):
    t = threading.Thread(target=work)
    t.start()
    t.join()
""",
    "fork": """
import os
for i in range(20):
    pid = os.fork()
    if pid == 0:
        sum(j for j in range(100000))
        probe.probe_mark(1)
        os._exit(i)
    sum(j for j in range(10000))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == i
""",
    "exec": """
import os
if len(sys.argv) == 1:
    t = time.perf_counter() + 0.1
    while time.perf_counter() < t:
        pass
    os.execv(sys.executable, [sys.executable, "-c", "x = sum(i for i in range(10**6))"])
""",
    "os._exit": "import os\nos._exit(0)\n",
    "recursion": """
sys.setrecursionlimit(3000)
def deep(n):
    return deep(n - 1) + 1 if n else sum(i for i in range(200000))
for _ in range(5):
    deep(2000)
""",
    "code that is thrown away": """
for i in range(4000):
    exec(compile("def f():\\n    return [j for j in range(300)]\\nf()", "x.py", "exec"), {})
""",
}


@pytest.mark.parametrize("what", SHUTDOWN)
def test_sampling_does_no_harm(what: str, tmp_path: Path) -> None:
    run("import time\nprobe.probe_side(5000, 0)\n" + SHUTDOWN[what], tmp_path / "run")


def test_waiting_is_not_disturbed(tmp_path: Path) -> None:
    """A call of the kernel that does not go on by itself after a signal: were sleeping threads
    signalled, every one would be cut short."""
    out = run("""
probe.probe_side(1000, 0)
libc = ctypes.CDLL(None, use_errno=True)
print(sum(libc.usleep(20000) != 0 for _ in range(40)))
""", tmp_path / "run")
    assert int(out) <= 2


def test_the_programs_own_handler_stays(tmp_path: Path) -> None:
    out = run("""
import signal, time
got = []
signal.signal(signal.SIGURG, lambda *a: got.append(1))
probe.probe_side(1000, 0)
print(probe.probe_trouble(b"samples").decode())
t = time.perf_counter() + 0.2
while time.perf_counter() < t:
    pass
print(len(got))
""", tmp_path / "run")
    assert "SIGURG" in out.splitlines()[0] and out.splitlines()[1] == "0"


OPERATORS = """
import torch
from torch.profiler import profile, ProfilerActivity, record_function
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
x = torch.randn(16, 32)
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
def work():
    with record_function("step"):
        y = Twice.apply(model(x))
        with record_function("loss"):
            loss = (y ** 2).mean()
        loss.backward()
        try:
            torch.ones(2) @ torch.ones(3)
        except RuntimeError:
            pass
    return loss.item()
work()
probe.probe_side(0, 2)
assert not probe.probe_trouble(b"ops")
with profile(activities=[ProfilerActivity.CPU]) as p:
    for _ in range(3):
        work()
probe.probe_stop()
work()
p.export_chrome_trace(sys.argv[1])
"""


def nested(path: Path, categories: set[str]) -> list[tuple[int, str, str]]:
    """Depth, category and name of every event of the main thread, in order."""
    events = [e for e in json.loads(path.read_text())["traceEvents"]
              if e.get("ph") == "X" and e.get("cat") in categories]
    events.sort(key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    open_until: list[float] = []
    rows = []
    for e in events:
        while open_until and open_until[-1] <= e["ts"]:
            open_until.pop()
        rows.append((len(open_until), e["cat"], e["name"]))
        open_until.append(e["ts"] + e["dur"])
    return rows


def test_operators_are_those_of_the_profiler(tmp_path: Path) -> None:
    truth, ours = tmp_path / "truth.json", tmp_path / "ours.json"
    run(OPERATORS, tmp_path / "run", str(truth))
    subprocess.run([BUILD / "src" / "strata", "export", tmp_path / "run", "-o", ours], check=True,
                   stdout=subprocess.DEVNULL)
    expected = nested(truth, {"user_annotation", "cpu_op"})
    assert len(expected) > 200
    assert nested(ours, {"user_annotation", "cpu_op"}) == expected
