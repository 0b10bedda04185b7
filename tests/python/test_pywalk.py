"""The Python side of a capture: stacks without the GIL, samples, operators. Against lines that are
known beforehand, and against torch's own profiler."""
from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pythons
import ring_reader

HERE = Path(__file__).parent
BUILD = Path(os.environ["STRATA_BUILD"])
PROBE = BUILD / "tests" / "pyprobe.so"


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


@pythons.every()
def test_every_line_is_right(python: str, tmp_path: Path) -> None:
    subprocess.run([python, str(HERE / "walk_load.py"), str(PROBE), str(tmp_path / "run"), "10"],
                   check=True, timeout=600)
    seen = stacks(tmp_path / "run", "stack")
    wrong = [(s[0], r.value) for r, s in seen if s[0].line != r.value]
    assert len(seen) > 3000
    assert not wrong, wrong[:5]
    assert all(s[0].code.split("(")[0] in ("program.py", "passing.py") for _, s in seen)


WHOLE = """
import asyncio, json, threading
mark = ctypes.CDLL(probe._name).probe_mark
truth = []
def chain(frame):
    rows = []
    while frame:
        rows.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return rows
def here():
    mark(len(truth)); truth.append(chain(sys._getframe()))
class Größe:
    def __init__(self, then):
        self.then = then
        then()
    def método(self):
        return self.then()
class Dying:
    def __del__(self):
        here()
def generator():
    try:
        here()
        yield 1
        here()
    finally:
        here()
def delegating():
    yield from generator()
async def source():
    here()
    yield 1
async def coroutine():
    async for _ in source():
        here()
    await asyncio.sleep(0)
    return [here() async for _ in source()]
def deep(n):
    return deep(n - 1) if n else here()
def kinds():
    here(), [here() for _ in "a"], {here(): here() for _ in "a"}, list(here() for _ in "a")
    for _ in delegating():
        Größe(here)
    next(delegating())
    class Body:
        here()
    exec("here()")
    sorted([2, 1], key=lambda v: (here(), v)[1])
    try:
        raise ValueError
    except ValueError:
        here()
    Größe(lambda: Größe(here)).método()
    Dying()
    deep(400)
    asyncio.run(coroutine())
for _ in range(100):
    Größe(int)
Größe(probe.probe_init)
assert probe.probe_ready()
for _ in range(20):
    kinds()
thread = threading.Thread(target=kinds)
thread.start()
thread.join()
print(json.dumps(truth))
"""


@pythons.every()
def test_the_whole_stack(python: str, tmp_path: Path) -> None:
    """As the interpreter's own frame objects have it, also where it shapes its code to the load."""
    truth = json.loads(run(WHOLE, tmp_path / "run", python=python))
    seen = stacks(tmp_path / "run", "stack")
    assert len(seen) == len(truth) > 400
    for record, stack in seen:
        ours = [[f.code.split("): ")[1], f.line] for f in stack]
        assert ours == truth[record.value][:256]


MODULES = """
probe.probe_init()
mark = ctypes.CDLL(probe._name).probe_mark
exec(compile('''
class Module:
    def __call__(self, n):
        return self._wrapped_call_impl(n)
    def _wrapped_call_impl(self, n):
        return self._call_impl(n)
    def _call_impl(self, n):
        return (lambda: self.forward(n))()
''', "lib/torch/nn/modules/module.py", "exec"))
class Linear(Module):
    def forward(self, n):
        mark(n)
class Block(Module):
    def __init__(self):
        self.parts = Linear(), Linear()
    def forward(self, n):
        self.parts[n % 2](n)
blocks = Block(), Block()
for n in range(200):
    blocks[n // 2 % 2](n)
"""


@pythons.every()
def test_modules_are_told_apart(python: str, tmp_path: Path) -> None:
    """By the object whose call it is, which has to be found in the frame."""
    run(MODULES, tmp_path / "run", python=python)
    seen = stacks(tmp_path / "run", "stack")
    assert len(seen) == 200
    for record, stack in seen:
        n = record.value % 4
        modules = [f.module for f in stack if f.module]
        assert modules == [f"nn.Module: Linear_{n}", f"nn.Module: Block_{n // 2}"]


# Where the list of offsets that an interpreter begins with has those of a thread's frame, a frame's
# caller and a code object's file, in words.
LISTED = {"3.13": (23, 29, 35), "3.14": (26, 32, 40), "3.15": (26, 40, 48)}
OTHER = """
import os
probe.probe_init.restype = ctypes.c_char_p
words = (ctypes.c_uint64 * 64).in_dll(ctypes.pythonapi, "_PyRuntime")
for i in range(2, 64):
    if os.fork() == 0:
        words[i] += 8
        why = probe.probe_init().decode()
        print(i, why, flush=True) if why else None
        os._exit(0)
    os.wait()
"""


@pythons.every(since="3.13")
def test_an_interpreter_that_says_otherwise_is_refused(python: str, tmp_path: Path) -> None:
    thread, frame, code = LISTED[pythons.version_of(python)]
    out = run(OTHER, tmp_path / "run", python=python)
    why = dict(line.split(" ", 1) for line in out.splitlines())
    assert "free-threaded" in why.pop("2")
    assert all("unknown frame layout" in w for w in why.values())
    used = [thread, *range(frame, frame + 5), *(code + i for i in (0, 1, 3, 4, 8))]
    assert [*map(int, why)] == used


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


@pythons.every()
def test_samples_find_what_takes_the_time(python: str, tmp_path: Path) -> None:
    run(PLANTED, tmp_path / "run", python=python)
    counts: collections.Counter[str] = collections.Counter()
    for _, stack in stacks(tmp_path / "run", "stack_of"):
        names = [f.code.split("): ")[1] for f in stack]
        assert names[-1] == "<module>"
        counts[names[-2] if len(names) > 1 else ""] += 1
    assert counts["planted"] > 100
    assert 1.8 < counts["planted"] / counts["other"] < 5
    assert counts["sleeper"] >= 8  # a thread that stands is read once each time


CALLING = """
import time
probe.probe_side(1000, 0)
def work():
    return sum(range(200))
def step():
    work()
    probe.probe_call()
end = time.thread_time() + 0.5
while time.thread_time() < end:
    step()
probe.probe_stop()
"""


@pythons.every()
def test_a_thread_that_makes_calls_reads_itself(python: str, tmp_path: Path) -> None:
    """About once per millisecond, at one of its calls. From outside it is only read where the machine
    lets it wait."""
    run(CALLING, tmp_path / "run", python=python)
    by_ring = collections.Counter()
    for ring in (tmp_path / "run" / "rings").glob("*.ring"):
        found = list(ring_reader.records(ring))
        tid = next(r.value for r in found if r.kind == ring_reader.KINDS["thread"])
        own = [r.value == tid for r in found if r.kind == ring_reader.KINDS["stack_of"]]
        by_ring["own"] += sum(own)
        by_ring["outside"] += len(own) - sum(own)
    assert by_ring["own"] > 100 and by_ring["outside"] < by_ring["own"], by_ring
    lines = collections.Counter(s[0].line for r, s in stacks(tmp_path / "run", "stack_of"))
    # the thread that stops writes down where it was last seen standing, from outside
    assert lines[12] >= by_ring["own"] - 1, lines


SHARE = """
import os, time
probe.probe_side(1000, 0)
def used(name):
    for task in os.listdir("/proc/self/task"):
        if open(f"/proc/self/task/{task}/comm").read().strip() == name:
            return int(open(f"/proc/self/task/{task}/schedstat").read().split()[0]) / 1e9
def deep(n):
    return deep(n - 1) if n else sum(range(50))
end = time.perf_counter() + 1.5
while time.perf_counter() < end:
    deep(40)
print(used("strata-sampler") / 1.5)
probe.probe_stop()
"""


def test_looking_at_a_busy_thread_takes_a_small_share(tmp_path: Path) -> None:
    """However long a look takes, there are only as many as fit into a fiftieth of a core."""
    assert float(run(SHARE, tmp_path / "run")) < 0.035


GENERATORS = """
import time
probe.probe_side(10000, 0)
class Thing:
    def __init__(self, n):
        self.n = sum(range(n))
def count(n):
    for i in range(n):
        yield i
end = time.thread_time() + 0.5
while time.thread_time() < end:
    for i in count(50):
        Thing(i)
probe.probe_stop()
"""


@pythons.every()
def test_samples_are_of_the_program(python: str, tmp_path: Path) -> None:
    """While a generator is resumed or left it hangs on nothing: such samples are not kept. Frames
    of the interpreter's own, around an __init__, are nobody's."""
    run(GENERATORS, tmp_path / "run", python=python)
    seen = [[f.code.split("): ")[1] for f in s] for _, s in stacks(tmp_path / "run", "stack_of")]
    assert {s[-1] for s in seen} == {"<module>"}
    assert max(s.count("__init__") for s in seen) == 1


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
    assert int(out) == 0


def test_no_signal_is_taken_or_sent(tmp_path: Path) -> None:
    out = run("""
import signal, time
got = []
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, lambda *a: got.append(a[0]))
def caught():  # 32 and 33 are libc's, for its threads
    return [int(line[7:], 16) & ~(3 << 31) for line in open("/proc/self/status")
            if line[:6] in ("SigBlk", "SigIgn", "SigCgt")]
before = caught()
probe.probe_side(5000, 0)
t = time.perf_counter() + 0.3
while time.perf_counter() < t:
    pass
print(got, before == caught(), probe.probe_trouble(b"samples"))
""", tmp_path / "run")
    assert out.strip() == "[] True b''"


CHURN = """
import random, time
class P:
    def __init__(self, v): self.v = v
    def get(self): return self.v
def c0(n): return P(n).get()
def c1(n): return c0(n) + 1
def c2(n): return c1(n) + c0(n)
def rec(n): return rec(n - 1) + c0(n) if n else c2(3)
def main():
    end = time.perf_counter() + 1.5
    while time.perf_counter() < end:
        for depth in (0, 7, 23): rec(depth)
probe.probe_side(5000, 0)
main()
"""

CALLS = {("main", "rec"), ("rec", "rec"), ("rec", "c0"), ("rec", "c2"), ("c2", "c1"), ("c2", "c0"),
         ("c1", "c0"), ("c0", "__init__"), ("c0", "get")}


@pythons.every()
def test_stacks_of_a_thread_that_never_holds_still(python: str, tmp_path: Path) -> None:
    """Calls of a few hundred nanoseconds, read while they run: who calls whom is right."""
    run(CHURN, tmp_path / "run", python=python)
    right = wrong = 0
    for _, stack in stacks(tmp_path / "run", "stack_of"):
        names = [frame.code.rpartition(": ")[2] for frame in reversed(stack)]
        assert names[0] == "<module>" and names[1:2] in ([], ["main"])
        for call in zip(names[1:], names[2:]):
            right, wrong = (right + 1, wrong) if call in CALLS else (right, wrong + 1)
    assert right > 200 and wrong < right / 50, (right, wrong)


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
