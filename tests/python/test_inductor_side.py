"""Lines and operators of kernels that Inductor makes, read from its code as it loads it."""
import json
import subprocess
import types

import pytest

from conftest import PROGRAM
from strata._timeline import inductor_side

CODE = """\
# AOT ID: ['0_inference']
async_compile = AsyncCompile()

# kernel path: /tmp/torchinductor_me/ab/cab.py
# Topologically Sorted Source Nodes: [norm, mul, to], Original ATen: [aten.native_layer_norm, aten.mul, \
aten._to_copy]
# Source node to ATen node mapping:
#   norm => var_mean
triton_red_fused__to_copy_mul_native_layer_norm_0 = async_compile.triton('triton_', '''
import triton
''', device_str='cuda')

# kernel path: /tmp/torchinductor_me/cd/ccd.py
# Source Nodes: [add], Original ATen: [aten.add]
triton_poi_fused_add_1 = async_compile.triton('triton_', '''
''', device_str='cuda')

cpp_fused_add_2 = async_compile.cpp_pybinding(['float*'], '''
''')

def call(args):
    with torch.cuda._DeviceGuard(0):
        # Topologically Sorted Source Nodes: [norm, mul, to], Original ATen: [aten.native_layer_norm]
        stream0 = get_raw_stream(0)
        triton_red_fused__to_copy_mul_native_layer_norm_0.run(arg0, buf0, stream=stream0)
        extern_kernels.mm(buf0, arg1, out=buf1)
        triton_poi_fused_add_1.run(buf1, 64, stream=stream0)
        triton_red_fused__to_copy_mul_native_layer_norm_0.run(arg0, buf0, stream=stream0)
        triton_poi_fused_add_1.run(buf1, 64, stream=stream0)
        cpp_fused_add_2(buf1)
"""
NORM = '  File "/app/run.py", line 3, in <module>\n    pipe()\n' \
       '  File "/app/model.py", line 84, in forward\n    x = self.norm(x) * scale\n           ^^^^\n'
ADD = '  File "/app/model.py", line 90, in forward\n    return x + y\n'
OTHER = '  File "/app/model.py", line 95, in head\n    return x + 1\n'


def number(word, nth=0):
    return [i for i, line in enumerate(CODE.splitlines(), 1) if word in line][nth]


LINES = [(number("_DeviceGuard") + 1, NORM), (number("extern_kernels"), "no frame in it"),
         (number("add_1.run"), ADD), (number("norm_0.run", 1), NORM), (number("add_1.run", 1), OTHER)]
NORM_KERNEL = "triton_red_fused__to_copy_mul_native_layer_norm_0"


def test_kernels_have_their_operators_and_the_lines_they_are_made_for():
    assert list(inductor_side.sources(CODE, LINES)) == [
        (NORM_KERNEL, "aten.native_layer_norm, aten.mul, aten._to_copy", "/app/model.py(84): forward"),
        ("triton_poi_fused_add_1", "aten.add", "/app/model.py(90): forward"),
        ("triton_poi_fused_add_1", "aten.add", "/app/model.py(95): head")]


def test_calls_before_the_first_known_line_have_none():
    assert not list(inductor_side.sources(CODE, [(10_000, NORM)]))
    assert not list(inductor_side.sources(CODE, []))


@pytest.fixture
def told(monkeypatch):
    texts = []
    library = types.SimpleNamespace(strata_inject_source=lambda text: texts.append(text.decode()))
    monkeypatch.setattr(inductor_side, "_library", lambda: library)
    monkeypatch.setattr(inductor_side, "_known", set())
    return texts


def codecache(path, before=()):
    class PyCodeCache:
        linemaps = dict(before)

        @classmethod
        def load_by_key_path(cls, key, path, linemap=None, attrs=None):
            return cls, key, attrs

    return types.SimpleNamespace(PyCodeCache=PyCodeCache), str(path)


def test_code_is_read_when_it_is_loaded_and_once(told, tmp_path):
    path = tmp_path / "cabc.py"
    path.write_text(CODE)
    module, path = codecache(path)
    owner, name, ours = inductor_side.watch(module)
    setattr(owner, name, ours)
    for _ in range(2):
        assert owner.load_by_key_path("key", path, LINES, attrs={"a": 1}) == (owner, "key", {"a": 1})
    assert [text.split("\t")[0] for text in told] == ["cabc.py"] * 3
    assert told[0].split("\t")[1:] == [NORM_KERNEL, "aten.native_layer_norm, aten.mul, aten._to_copy",
                                       "/app/model.py(84): forward"]
    assert inductor_side.watch(module) is None  # already watched


def test_what_was_loaded_before_is_read_as_well(told, tmp_path):
    path = tmp_path / "cabc.py"
    path.write_text(CODE)
    module, _ = codecache(path, {str(path): list(zip(*LINES)), "/gone.py": [(1,), (NORM,)], "/empty.py": []})
    inductor_side.watch(module)
    assert len(told) == 3


@pytest.mark.parametrize("lines", [[("x", NORM)], [(None, None)], 7])
def test_a_program_goes_on_whatever_the_lines_are(told, tmp_path, lines):
    path = tmp_path / "cabc.py"
    path.write_text(CODE)
    module, path = codecache(path)
    owner, name, ours = inductor_side.watch(module)
    setattr(owner, name, ours)
    assert owner.load_by_key_path("key", path, lines)[1] == "key"
    assert owner.load_by_key_path("key", "/not/there.py", LINES)[1] == "key"
    assert not told


def stack(*frames):
    return "".join(f'  File "{file}", line {line}, in {function}\n    x = f(x)\n'
                   for file, line, function in frames)


ONE = [stack(("/app/train.py", 9, "<module>"), ("/app/model.py", 84, "forward"),
             ("/usr/lib/python3.12/site-packages/torch/nn/functional.py", 2900, "layer_norm")),
       stack(("/app/model.py", 85, "forward"))]
OTHER = [stack(("/app/model.py", 120, "forward"))]


def test_stacks_that_torch_writes_with_kernels(tmp_path):
    """torch._inductor.profiler adds them to traces (torch 2.14). Two graphs have a kernel of one name."""
    events = []
    kernels = [("triton_poi_fused_add_0", ONE, 30), ("nvjet_gemm", OTHER, 50),
               ("triton_poi_fused_add_0", OTHER, 40), ("triton_red_fused_mul_1", None, 20)]
    for i, (name, stacks, us) in enumerate(kernels):
        said = {"stack": stacks} if stacks else {}
        events += [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 100 * i, "dur": 20},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                    "ts": 100 * i + 5, "dur": 5, "args": {"correlation": i}},
                   {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 100 * i + 30,
                    "dur": us, "args": {"device": 0, "stream": 7, "correlation": i, **said}}]
    path = tmp_path / "stacks.json"
    path.write_text(json.dumps({"traceEvents": events}))
    done = subprocess.run([PROGRAM, "kernels", str(path), "--by", "line", "--json"], capture_output=True,
                          text=True, check=True)
    document = json.loads(done.stdout)
    assert {(k["name"], k.get("where")): k["total_us"] for k in document["rows"]} == {
        ("triton_poi_fused_add_0", "/app/model.py:84 in forward"): 30,
        ("nvjet_gemm", "/app/model.py:120 in forward"): 50,
        ("triton_poi_fused_add_0", "/app/model.py:120 in forward"): 40,
        ("triton_red_fused_mul_1", None): 20}
    assert document["known"]["line_us"] == 120
