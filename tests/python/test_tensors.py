"""Which tensors an operator of a unit in depth is called with and returns (backend/program/torch_tensors.h):
the same one has the same storage, one that was written another version. All else as in test_depth.py."""
import json
import subprocess
import sys

import pytest

from conftest import PROGRAM
from test_capture import capture  # noqa: F401
from test_depth import PROGRAM_START, run  # noqa: F401

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="as torch's operators are recorded")

# Net warms up what the recorder learns; Step is the unit that is looked at.
START = PROGRAM_START + '''
class Step(nn.Module):
    def forward(self, f):
        return f()

step, weight, given = Step(), torch.ones(64, 64), torch.ones(64, 64)

def go(f, calls=8):
    with torch.inference_mode() if INFERENCE else torch.no_grad():
        for _ in range(6):
            net(torch.cat([given[:32], given[32:]]) + torch.arange(64))
        for _ in range(calls):
            step(f)
            cuda.cuStreamSynchronize(0)
'''


def export(source, to):
    subprocess.run([PROGRAM, "export", str(source), "-o", str(to)], check=True, capture_output=True)


def operators(path):
    """The operators of units in depth, each with its arguments."""
    events = json.loads(path.read_text())["traceEvents"]
    return sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: e["ts"])


@pytest.fixture
def called(run, tmp_path):  # noqa: F811
    def of(program, *names, inference=False):
        done = run(f"INFERENCE = {inference}\n" + START + program)
        path = tmp_path / "tensors.json"
        export(done.folder, path)
        found = [[e["args"] for e in operators(path) if e["name"] == name][-2:] for name in names]
        assert all(len(f) == 2 for f in found), [e["name"] for e in operators(path)]
        return found if len(names) > 1 else found[0]
    return of


def test_the_same_inputs(called):
    first, second = called("go(lambda: torch.matmul(given, weight))", "aten::matmul")
    assert first["Input Tensors"] == second["Input Tensors"]
    assert len({storage for storage, _, _ in first["Input Tensors"]}) == 2
    assert all(storage > 0 and version == 0 for storage, _, version in first["Input Tensors"])
    assert first["Output Tensors"][0][0] not in [t[0] for t in first["Input Tensors"]]


def test_written_in_place(called):
    """The matrix product sees another version of its first input, and the same of its second."""
    first, second = called("go(lambda: torch.matmul(given.add_(1), weight))", "aten::matmul")
    (a, b), (c, d) = first["Input Tensors"], second["Input Tensors"]
    assert a[:2] == c[:2] and c[2] == a[2] + 1
    assert b == d


def test_weights_that_are_trained(called):
    first, second = called("""
w = nn.Parameter(torch.ones(64, 64))
sgd = torch.optim.SGD([w], lr=0.1)
def train():
    with torch.enable_grad():
        torch.matmul(given, w).sum().backward()
    sgd.step()
    sgd.zero_grad()
go(train)
""", "aten::matmul")
    (a, b), (c, d) = first["Input Tensors"], second["Input Tensors"]
    assert a == c
    assert b[0] == d[0] and d[2] > b[2]


def test_an_address_that_another_tensor_has(called):
    """New tensors may have the storage of the last one: what made it says that it is new."""
    program = "go(lambda: torch.matmul(torch.rand(64, 64), weight))"
    rand, matmul = called(program, "aten::rand", "aten::matmul")
    made, read = [a["Output Tensors"][0] for a in rand], [a["Input Tensors"][0] for a in matmul]
    assert [t[2] for t in made] == [t[2] for t in read] == [0, 0]
    assert made[0][1:] == made[1][1:]


def test_views_and_lists(called):
    """A view has the storage of its base and another layout; tensors in lists count."""
    split, whole = called("go(lambda: torch.cat([torch.cat(given.t().split(32)), weight], 1))", "aten::cat")
    (a, b), (c, d) = split["Input Tensors"], whole["Input Tensors"]
    assert a[0] == b[0] and a[1] != b[1]
    assert c[0] != d[0] and c[1] == d[1]


def test_lists_of_numbers(called):
    (a, b), (c, d) = called("""
shifts = iter(range(100))
go(lambda: (torch.roll(given, [next(shifts)], [0]), given.sum([1])))
""", "aten::roll", "aten::sum")
    assert a["Input Tensors"] == b["Input Tensors"] and a["Input Lists"] != b["Input Lists"]
    assert c["Input Tensors"] == d["Input Tensors"] and c["Input Lists"] == d["Input Lists"]


def test_tensors_of_inference_mode_have_no_version(called):
    first, second = called("made = torch.inference_mode()(lambda: torch.ones(64, 64))()\n"
                           "go(lambda: torch.matmul(made, weight))", "aten::matmul", inference=True)
    assert first["Input Tensors"] == second["Input Tensors"]
    assert [version for _, _, version in first["Input Tensors"]] == [-1, 0]


def test_tensors_without_a_storage(called):
    """A sparse tensor has none: it is left unknown, and nothing breaks."""
    first, second = called("""
sparse = torch.eye(64).to_sparse()
go(lambda: torch.sparse.mm(sparse, weight))
""", "aten::_sparse_mm")
    assert [t[0] > 0 for t in first["Input Tensors"]] == [False, True]


def test_nothing_outside_of_depth(run, tmp_path):  # noqa: F811
    done = run("INFERENCE = False\n" + START + "go(lambda: torch.matmul(given, weight))", "--depth", "0",
               STRATA_OPS="shapes")
    path = tmp_path / "tensors.json"
    export(done.folder, path)
    found = operators(path)
    assert any("Input Dims" in e["args"] for e in found)
    assert not any("Input Tensors" in e.get("args", {}) for e in found)


def test_through_a_strata_file(run, tmp_path):  # noqa: F811
    done = run("INFERENCE = False\n" + START + "go(lambda: torch.matmul(given, weight))")
    direct, packed, again = (tmp_path / name for name in ("a.json", "a.strata", "b.json"))
    for source, to in ((done.folder, direct), (done.folder, packed), (packed, again)):
        export(source, to)
    one, other = ([e["args"] for e in operators(path)] for path in (direct, again))
    assert any("Output Tensors" in a for a in one)
    assert one == other
