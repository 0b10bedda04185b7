"""Shapes of operators' inputs in recordings of ours (--ops shapes), against torch's own profiler."""
import functools
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conftest import BUILD, PROGRAM, clean_environment

pytest.importorskip("torch")

PROGRAM_TEXT = """
    import json, sys, torch
    from torch.nn import functional as F
    torch.manual_seed(0)
    conv, linear = torch.nn.Conv2d(3, 8, 3, padding=1, stride=2), torch.nn.Linear(512, 10)
    x = torch.randn(4, 3, 16, 16)

    def work():
        y = linear(F.relu(conv(x)).flatten(1))
        q = torch.randn(2, 4, 32, 16)
        z = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        torch.cat([z, z[:, :2]], 1)
        y.half().sum(1)[torch.tensor([0, 1])]
        y.sum().backward()

    work()
    if len(sys.argv) > 1:
        cpu = torch.profiler.ProfilerActivity.CPU
        with torch.profiler.profile(activities=[cpu], record_shapes=True) as p:
            work()
        p.export_chrome_trace(sys.argv[1])
    else:
        with torch.profiler.record_function("all of it"):
            work()
"""


def operators(path, inside=None):
    """[(name, dims, types, values)] by start; `inside`: of that range only."""
    events = [e for e in json.loads(path.read_text())["traceEvents"] if e.get("ph") == "X"]
    begin, end = 0, float("inf")
    if inside:
        (around,) = [e for e in events if e["name"] == inside]
        begin, end = around["ts"], around["ts"] + around["dur"]
    ops = [e for e in events if e.get("cat") == "cpu_op" and begin <= e["ts"] < end]
    ops.sort(key=lambda e: (e["ts"], -e["dur"]))
    return [(e["name"], *(e.get("args", {}).get(k) for k in ("Input Dims", "Input type", "Concrete Inputs")),
             e.get("args", {}).get("Sequence number")) for e in ops]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """recorded(ops): the operators of a recording."""
    top = tmp_path_factory.mktemp("shapes")
    script = top / "script.py"
    script.write_text(textwrap.dedent(PROGRAM_TEXT))

    @functools.cache
    def run(ops):
        out = top / ops
        done = subprocess.run([PROGRAM, "run", "-o", str(out), "--level", "timeline", "--ops", ops, "--",
                               sys.executable, str(script)], capture_output=True, text=True, timeout=300,
                              env=clean_environment(), check=False)
        assert done.returncode == 0, done.stderr
        (folder,) = {p.parent for p in out.glob("*/*/rings")}
        path = top / f"{ops}.json"
        subprocess.run([PROGRAM, "export", str(folder), "-o", str(path)], check=True, capture_output=True,
                       timeout=120)
        return operators(path, "all of it")

    run.script = script  # type: ignore[attr-defined]
    return run


def counted(ops, name):
    return sorted(json.dumps(o[1:3]) for o in ops if o[0] == name)


def test_shapes_are_those_of_torchs_profiler(recorded, tmp_path):
    path = tmp_path / "torch.json"
    subprocess.run([sys.executable, str(recorded.script), str(path)], check=True, timeout=300,
                   capture_output=True, env=clean_environment())
    theirs, ours = operators(path), recorded("shapes")
    names = ["aten::conv2d", "aten::convolution", "aten::addmm", "aten::mm", "aten::relu", "aten::cat",
             "aten::scaled_dot_product_attention", "aten::sum", "aten::convolution_backward"]
    for name in names:
        assert counted(ours, name) == counted(theirs, name) != [], name
    for name, values in (("aten::convolution", slice(3, 9)), ("aten::convolution_backward", slice(3, 11)),
                         ("aten::scaled_dot_product_attention", slice(5, 6))):
        (mine,), (other,) = ([o[3] for o in ops if o[0] == name] for ops in (ours, theirs))
        assert mine[values] == other[values], name


def test_numbers_of_autograd_join_both_passes(recorded):
    ops = recorded("shapes")
    (forward,) = [o[4] for o in ops if o[0] == "aten::addmm"]
    backward = [o[4] for o in ops if o[0] == "AddmmBackward0"]
    assert forward is not None and backward == [forward]


def test_without_shapes_there_are_none(recorded):
    ops = recorded("all")
    assert ops and all(o[1:] == (None, None, None, None) for o in ops)


WITH_DEVICE = """
    import ctypes, os
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)
    cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")
    cuda.cuInit(0)
    import torch, strata
    torch.version.cuda = "13.0"  # so that a timeline looks for a device
    ours = torch.library.Library("aten", "IMPL")

    def mm(a, b):
        cuda.cuLaunchKernel(kernel, 1, 0)
        return a.new_empty(a.shape[0], b.shape[1])

    ours.impl("mm", mm, "CPU", allow_override=True)
    a, b = torch.randn(64, 32), torch.randn(32, 16)

    def step():
        for _ in range(10):
            torch.mm(a, b)
        cuda.cuStreamSynchronize(0)

    with strata.timeline(ops="{first}"):
        step()
    with strata.timeline(ops="user"):
        step()
"""


@pytest.mark.parametrize(("first", "known"), [("shapes", 100.0), ("user", 0.0)])
def test_work_of_kernels_is_known_from_shapes(tmp_path, first, known):
    """Also that of the same launch in a part without shapes: it is carried over from its twins."""
    fakes, libraries = Path(BUILD) / "tests" / "capture", tmp_path / "lib"
    libraries.mkdir()
    (libraries / "libcuda.so.1").symlink_to(fakes / "libcuda.so.1")
    (libraries / "libcupti.so.13").symlink_to(fakes / "libcupti.so.13.fake")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(WITH_DEVICE).replace("{first}", first))
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=clean_environment(
            LD_LIBRARY_PATH=libraries,
            APP_CUPTI="libcupti.so.13",
            STRATA="on",
            STRATA_OUT=tmp_path / "out",
            STRATA_TABLE="off",
        ),
    )
    assert done.returncode == 0, done.stderr
    (folder,) = {p.parent for p in (tmp_path / "out").glob("*/*/rings")}
    answer = subprocess.run(
        [PROGRAM, "kernels", str(folder), "--whole", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    (row,) = [k for k in json.loads(answer.stdout)["rows"] if k["name"] == "gemm"]
    assert row["calls"] == 20
    assert row.get("flops", 0) == known / 100 * 20 * 2 * 64 * 32 * 16


ODD = """
    import torch
    a = torch.randn(4, 4)
    f = torch.compile(lambda x: (x @ x).relu().sum(), backend="aot_eager", dynamic=True)
    for n in (3, 5, 7):
        f(torch.randn(n, n, requires_grad=True)).backward()
    torch.vmap(lambda x: x @ a)(torch.randn(3, 4, 4))
    torch.empty(2, 3, device="meta") + 1
    a.to_sparse() @ a
    torch._foreach_add([a, a], [a, a])
    torch.einsum("ij,jk->ik", a, a), torch.zeros(0, 4) @ a
    many = torch.cat([a] * 200)
    nested = torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)])
    for _ in range(3):
        nested + nested
    (a @ a).tolist()
    print("came to its end")
"""


def test_odd_tensors_do_no_harm(tmp_path):
    """Sizes that torch refuses to tell, symbols instead of numbers, lists of hundreds of tensors."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(ODD))
    done = subprocess.run(
        [
            PROGRAM,
            "run",
            "-o",
            str(tmp_path / "out"),
            "--level",
            "timeline",
            "--ops",
            "shapes",
            "--",
            sys.executable,
            str(script),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env=clean_environment(),
        check=False,
    )
    assert done.returncode == 0 and "came to its end" in done.stdout, done.stderr
    assert done.stderr.count("Exception in RecordFunction") <= 2, done.stderr


FLOPS = """
    import json, sys, torch, strata
    from torch.utils.flop_counter import FlopCounterMode
    torch.manual_seed(0)
    conv, linear = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1, groups=1), torch.nn.Linear(256, 40)
    image = torch.randn(2, 3, 32, 32)

    def forward():
        x = linear(conv(image).flatten(2))
        return (x @ x.transpose(1, 2)).softmax(-1) @ x

    with FlopCounterMode(display=False) as truth:
        forward()
    with strata.timeline(ops="shapes"):
        for _ in range(4):  # by then it is known where arguments stand
            image + 1
        forward()
    json.dump(truth.get_total_flops(), open(sys.argv[1], "w"))
"""


def test_operations_are_those_that_torch_counts(tmp_path):
    script, truth = tmp_path / "script.py", tmp_path / "truth.json"
    script.write_text(textwrap.dedent(FLOPS))
    subprocess.run([sys.executable, str(script), str(truth)], check=True, timeout=300, capture_output=True,
                   env=clean_environment(STRATA="on", STRATA_OUT=tmp_path / "out", STRATA_TABLE="off"))
    (folder,) = {p.parent for p in (tmp_path / "out").glob("*/*/rings")}
    answer = subprocess.run(
        [PROGRAM, "table", str(folder), "--whole", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    rows = json.loads(answer.stdout)["rows"]
    counted = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::conv2d"}
    assert sum(r["flops"] for r in rows if r["name"] in counted) == json.loads(truth.read_text()) > 0


LISTS = """
    import torch
    a, b = ([torch.ones(4, 5), torch.ones(7)] for _ in range(2))
    for _ in range(3):
        torch._foreach_mul_(a, 0.5)
        torch._foreach_lerp_(a, b, 0.1)
        torch._foreach_addcdiv_(a, b, b, [1.0, 2.0])
        torch.cat([a[0]] * 70)
"""


def test_lists_of_tensors_are_opened(tmp_path):
    """Several of the same sizes, and behind them numbers; one that is long."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(LISTS))
    subprocess.run(
        [
            PROGRAM,
            "run",
            "-o",
            str(tmp_path / "out"),
            "--level",
            "timeline",
            "--ops",
            "shapes",
            "--",
            sys.executable,
            str(script),
        ],
        capture_output=True,
        check=True,
        timeout=300,
        env=clean_environment(),
    )
    (folder,) = {p.parent for p in (tmp_path / "out").glob("*/*/rings")}
    path = tmp_path / "exported.json"
    subprocess.run([PROGRAM, "export", str(folder), "-o", str(path)], check=True, capture_output=True)
    dims = {e["name"]: e["args"]["Input Dims"] for e in json.loads(path.read_text())["traceEvents"]
            if "Input Dims" in e.get("args", {})}
    both = [[4, 5], [7]]
    assert dims["aten::_foreach_mul_"] == [both, []]
    assert dims["aten::_foreach_lerp_"] == [both, both, []]
    assert dims["aten::_foreach_addcdiv_"] == [both, both, both, []]
    assert dims["aten::cat"] == [[[4, 5]] * 70, []]
