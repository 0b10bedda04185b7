"""Units in depth (backend/program/depth.h, analyze/deep): a few units of a program are recorded with
every operator, shape and line, and what they show is carried to all other launches. On a GPU that is not
there (tests/capture), with operators of torch that launch kernels of it."""
import collections
import json
import re
import subprocess
import sys
import textwrap

import pytest

from conftest import PROGRAM
from test_capture import capture  # noqa: F401

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="as torch's operators are recorded")

# The operators stand in a library: their lines are not the user's.
PROGRAM_START = '''
import ctypes, os, sys, threading, time, warnings
warnings.simplefilter("ignore")
ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL("libcuda.so.1")
import torch
from torch import nn
torch.set_num_threads(1)
OPERATORS = """
def launch(name, grid):
    cuda.cuLaunchKernel(names.setdefault(name, ctypes.c_char_p(name.encode())), grid, 0)
def mm(a, b):
    launch("gemm_kernel", a.shape[0] * b.shape[1] // 64)
    return a.new_empty((a.shape[0], b.shape[1]))
def relu(a):
    launch("relu_kernel", a.numel() // 64)
    return a
def sort(a):
    for part in ("histogram", "scan", "scatter"):
        launch(part, a.numel() // 64)
    return a
"""
space = {"cuda": cuda, "ctypes": ctypes, "names": {}}
exec(compile(OPERATORS, "/usr/lib/python3/site-packages/torch/operators.py", "exec"), space)
plain = torch.library.Library("aten", "IMPL")
plain.impl("mm", space["mm"], "CPU")
plain.impl("relu", space["relu"], "CPU")
own = torch.library.Library("own", "DEF")
own.define("sort(Tensor a) -> Tensor")
own.impl("sort", space["sort"], "CPU")
cuda.cuInit(0)

class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = nn.Parameter(torch.ones(n, n), requires_grad=False)

    def forward(self, x):
        x = torch.mm(x, self.w)  # LINE mm
        return torch.relu(x)  # LINE relu

class Net(nn.Module):
    def __init__(self, depth=6, n=64):
        super().__init__()
        self.blocks = nn.ModuleList(Block(n) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

def sample(x):
    return torch.ops.own.sort(x)  # LINE sort

net = Net()
'''

STEADY = PROGRAM_START + '''
with torch.no_grad():
    for step in range(20):
        x = net(torch.ones(64, 64))
        if step % 7 != 6:
            sample(x)
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


@pytest.fixture
def run(capture, tmp_path):  # noqa: F811
    def of(text, *options, **env):
        script = tmp_path / "depth.py"
        script.write_text(textwrap.dedent(text))
        env.setdefault("STRATA_OPS", "user")
        done = capture(command=[sys.executable, str(script)], options=options, STRATA_TABLE="off", **env)
        assert done.status == 0, done.stderr
        return done
    return of


def line(word):
    """The line of the program that says so."""
    return next(i for i, text in enumerate(STEADY.splitlines(), 1) if text.endswith(f"# LINE {word}"))


def known(done, *options):
    """What the report knows of each kernel: its operator, its line, how its work is known, how often."""
    return {(k["name"], k["op"], k.get("captured", {}).get("source", {}).get("line"),
             k["work_from"]): k["calls"] for k in done.ask("kernels", "--by", "op", *options)["rows"]}


def units(done, tmp_path):
    """How many marks there are around units in depth."""
    path = tmp_path / "marks.json"
    subprocess.run([PROGRAM, "export", str(done.folder), "-o", str(path)], check=True, capture_output=True)
    names = [e["name"] for e in json.loads(path.read_text())["traceEvents"] if e.get("ph") in ("i", "I")]
    return collections.Counter(n for n in names if n.startswith("strata.depth"))


def test_every_launch_is_known(run, tmp_path):
    done = run(STEADY)
    assert units(done, tmp_path) == {"strata.depth begins": 3, "strata.depth ends": 3}
    rows = known(done)
    assert set(rows) == {("gemm_kernel", "aten::mm", line("mm"), "shapes"),
                         ("relu_kernel", "aten::relu", line("relu"), "shapes"),
                         ("histogram", "own::sort", line("sort"), "shapes"),
                         ("scan", "own::sort", line("sort"), "shapes"),
                         ("scatter", "own::sort", line("sort"), "shapes")}
    gemm = next(k for k in done.ask("kernels", "--by", "op")["rows"] if k["op"] == "aten::mm")
    assert gemm["captured"]["module"].startswith("nn.Module: Block_")
    assert gemm["flops"] == gemm["calls"] * 2 * 64 ** 3


def test_units_in_depth_are_left_out(run):
    """20 steps, three of them in depth: 17 are left, and warm ones are judged."""
    done = run(STEADY)
    everything = {r["name"]: r["calls"] for r in done.ask("kernels", "--whole")["rows"]}
    assert everything["gemm_kernel"] == 20 * 6
    steps = done.ask("steps")
    assert steps["steps"], steps


SHORT = PROGRAM_START + """
with torch.no_grad():
    for step in range(4):
        sample(net(torch.ones(64, 64)))
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
"""


def test_a_short_recording_keeps_most_units(run, tmp_path):
    """Four steps: the first warms up, the second is in depth, the others stay as they are."""
    done = run(SHORT)
    assert units(done, tmp_path)["strata.depth begins"] == 1
    rows = {row[:3]: calls for row, calls in known(done).items()}
    assert set(rows) == {("gemm_kernel", "aten::mm", line("mm")), ("relu_kernel", "aten::relu", line("relu")),
                         *((part, "own::sort", line("sort")) for part in ("histogram", "scan", "scatter"))}
    assert rows["gemm_kernel", "aten::mm", line("mm")] >= 2 * 6  # the first step may be cold


AGAIN = PROGRAM_START + """
from torch.utils.checkpoint import checkpoint

class Saving(Net):
    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x

saving = Saving(3).requires_grad_()
for step in range(12):
    saving(torch.ones(64, 64)).sum().backward()
    cuda.cuStreamSynchronize(0)
    time.sleep(0.002)
"""


def test_layers_computed_again_are_no_units(run, tmp_path):
    """Checkpointed layers are entered outside of all modules, in the backward pass."""
    assert units(run(AGAIN), tmp_path)["strata.depth begins"] == 3


NEW_SHAPES = PROGRAM_START + '''
with torch.no_grad():
    for step in range(30):
        sample(net(torch.ones(64 if step < 15 else 128, 64)))
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


def test_new_shapes_ask_for_a_unit(run, tmp_path):
    done = run(NEW_SHAPES)
    assert units(done, tmp_path)["strata.depth begins"] == 6
    rows = done.ask("kernels", "--by", "config", "--whole")["rows"]
    assert {r["grid"][0] for r in rows if r["name"] == "gemm_kernel"} == {64, 128}
    for grid in (64, 128):
        (row,) = [r for r in rows if r["name"] == "gemm_kernel" and r["grid"][0] == grid]
        assert row["flops"] > 0


VARYING = PROGRAM_START + '''
class Cache(nn.Module):
    def forward(self, x, step):
        x = torch.relu(torch.mm(x, net.blocks[0].w))
        torch.ops.own.sort(torch.empty(64, 64 + step % 4, 16)[:, :64])  # as large a grid, other strides
        torch.ops.own.sort(torch.empty(1024 + 16 * step)[:1024 + step])  # the same grid on other shapes
        return x

cache = Cache()
with torch.no_grad():
    for step in range(20):
        cache(torch.ones(64, 64), step)
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


def test_what_differs_between_units_is_not_carried(run):
    """1,024 to 1,043 elements have the same grid: the units in depth show that their shapes differ."""
    rows = run(VARYING).ask("kernels", "--by", "config")["rows"]
    small = [r for r in rows if r["name"] == "scan" and r["grid"][0] == 16]
    assert small and all(r["work_from"] != "shapes" and r["op"] == "own::sort" for r in small)
    (gemm,) = [r for r in rows if r["name"] == "gemm_kernel"]
    assert gemm["work_from"] == "shapes"


BRANCHES = PROGRAM_START + '''
class Two(nn.Module):
    step = 0

    def one(self, x):
        for _ in range(3):
            x = torch.relu(torch.mm(x, net.blocks[0].w))
        return x

    def other(self, x):
        for _ in range(3):
            x = torch.relu(torch.mm(x, net.blocks[0].w))
        return x

    def forward(self, x):
        self.step += 1
        x = torch.ops.own.sort(x)
        return torch.ops.own.sort(self.one(x) if self.step % 2 else self.other(x))

two = Two()
with torch.no_grad():
    for step in range(30):
        two(torch.ones(64, 64))
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


def test_a_line_in_which_units_differ_is_not_said(run):
    """Two functions launch the same: operators and shapes are known, and which of the two it was is not."""
    known = run(BRANCHES).ask("kernels", "--by", "line")
    rows = [r for r in known["rows"] if r["name"] in ("gemm_kernel", "relu_kernel")]
    told = [r["calls"] for r in rows if re.search(r":\d+ in (one|other)", r.get("where") or "")]
    assert rows and sum(told) <= 0.1 * sum(r["calls"] for r in rows)  # the sampler may have seen a launch
    assert known["known"]["differing_us"] == pytest.approx(sum(r["total_us"] for r in rows), rel=0.1)
    assert known["known"]["op_us"] == known["known"]["shapes_us"] == known["known"]["kernel_us"]
    assert all(r.get("where", "").startswith("depth.py:") for r in known["rows"] if r["name"] == "scan")


LOOPS = PROGRAM_START + '''
class Rounds(nn.Module):
    step = 0

    def forward(self, x):
        self.step += 1
        x = torch.ops.own.sort(x)
        for _ in range(2 + self.step % 9):
            x = torch.relu(torch.mm(x, net.blocks[0].w))
        return torch.ops.own.sort(torch.ops.own.sort(torch.ops.own.sort(x)))

rounds = Rounds()
with torch.no_grad():
    for step in range(40):
        rounds(torch.ones(64, 64))
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


def test_loops_of_other_lengths(run):
    """Units in depth have four and seven rounds; up to ten are followed, some single ones are not."""
    known = run(LOOPS).ask("kernels", "--by", "line")["known"]
    assert 0.9 * known["compared_us"] < known["carried_us"] and known["differing_us"] == 0


OTHER_KERNELS = PROGRAM_START + '''
with torch.no_grad():
    for step in range(24):
        x = net(torch.ones(64, 64))
        if step >= 12:
            for _ in range(6):
                space["launch"]("stranger", 50)
        sample(x)
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


def test_what_was_in_no_unit_is_not_guessed(run):
    rows = {k["name"]: k for k in run(OTHER_KERNELS).ask("kernels", "--by", "op", "--whole")["rows"]}
    assert rows["stranger"]["op"] == "cuLaunchKernel" and "captured" not in rows["stranger"]


@pytest.mark.parametrize("ops", ["off", "all"])
def test_with_other_levels_of_operators(run, ops):
    """Without operators there is no depth; with all of them it adds shapes and lines."""
    rows = known(run(STEADY, STRATA_OPS=ops))
    names = {op for _, op, _, _ in rows}
    assert names == ({"cuLaunchKernel"} if ops == "off" else {"aten::mm", "aten::relu", "own::sort"})
    if ops == "all":
        assert {work for _, _, _, work in rows} == {"shapes"}


NO_MODULES = PROGRAM_START + '''
w = torch.ones(64, 64)
end = time.monotonic() + 6
with torch.no_grad():
    while time.monotonic() < end:
        for _ in range(20):
            sample(torch.relu(torch.mm(w, w)))
        cuda.cuStreamSynchronize(0)
        time.sleep(0.01)
'''


@pytest.mark.slow
def test_a_program_without_modules_has_windows(run, tmp_path):
    done = run(NO_MODULES)
    assert units(done, tmp_path)["strata.depth begins"] == 2
    assert {op for _, op, _, _ in known(done, "--whole")} >= {"aten::mm", "aten::relu", "own::sort"}


REQUESTED = PROGRAM_START + """
library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
library.strata_inject_pause(1)
w = torch.ones(64, 64)

def work(seconds):
    end = time.monotonic() + seconds
    with torch.no_grad():
        while time.monotonic() < end:
            for _ in range(20):
                sample(torch.relu(torch.mm(w, w)))
            cuda.cuStreamSynchronize(0)
            time.sleep(0.002)

work(0.2)
library.strata_inject_pause(0)
work(1.0)
"""


def test_a_part_of_a_program_that_runs_has_a_window_soon(run, tmp_path):
    done = run(REQUESTED)
    assert units(done, tmp_path)["strata.depth begins"] >= 1
    assert {op for _, op, _, _ in known(done)} == {"aten::mm", "aten::relu", "own::sort"}


THREADS = PROGRAM_START + '''
def work():
    with torch.no_grad():
        for step in range(40):
            sample(net(torch.ones(64, 64)))
            cuda.cuStreamSynchronize(0)

threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
'''


def test_threads_that_work_at_once(run, tmp_path):
    done = run(THREADS)
    marks = units(done, tmp_path)
    assert marks["strata.depth begins"] == marks["strata.depth ends"] >= 1
    total = sum(r["calls"] for r in done.ask("kernels", "--whole")["rows"])
    assert total == 4 * 40 * (12 + 3)


GRAPH = PROGRAM_START + '''
w = torch.ones(64, 64)
with torch.no_grad():
    cuda.cuStreamBeginCapture_v2(0)
    x = torch.relu(torch.mm(w, w))
    torch.ops.own.sort(x)
    cuda.cuStreamEndCapture(0)
    cuda.cuGraphInstantiateWithFlags()
    for _ in range(20):
        cuda.cuGraphLaunch(5, 0)
        cuda.cuStreamSynchronize(0)
        time.sleep(0.002)
'''


def test_shapes_of_graphs_come_from_their_capture(run):
    """One node each of mm and relu, whose work is known by that; three of the sort, which share its work
    in a way that nothing shows."""
    rows = run(GRAPH).ask("kernels", "--by", "shape", "--whole")["rows"]
    found = {(r["op"], r.get("shapes")): r for r in rows if r["kind"] == "kernel"}
    assert set(found) == {("aten::mm", "[[64, 64], [64, 64]]"), ("aten::relu", "[[64, 64]]"),
                          ("own::sort", None)}
    assert found["aten::mm", "[[64, 64], [64, 64]]"]["flops"] == 20 * 2 * 64 ** 3
