"""What JAX's Python side adds to a timeline: waits that make no call of the driver, and the lines of XLA's
kernels. JAX itself is not needed: two small modules stand for the two of its own that matter."""
import json
import subprocess
import sys
import textwrap

import pytest

from conftest import PROGRAM, clean_environment
from strata._timeline import jax_side

ARRAY = """
    import time

    class ArrayImpl:
        def __init__(self):
            self._npy_value = None

        @property
        def _value(self):
            time.sleep(0.002)
            self._npy_value = 3.5
            return self._npy_value

        def __float__(self):
            return self._value

        def block_until_ready(self):
            time.sleep(0.001)
            return self

    class xc:
        @staticmethod
        def batched_block_until_ready(arrays):
            time.sleep(0.001)
"""
COMPILER = '''
    TEXT = """HloModule jit_step

    FileNames
    1 "/home/me/train.py"

    FunctionNames
    1 "loss"

    FileLocations
    1 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=7 end_column=17}

    StackFrames
    1 {file_location_id=1 parent_frame_id=1}

    ENTRY %main.2 (x.1: f32[64]) -> f32[64] {
      ROOT %loop_add_fusion.1 = f32[64]{0} add(%x.1, %x.1), metadata={op_name="add" stack_frame_id=1}
    }
    """.replace("\\n    ", "\\n")

    class Module:
        name = "jit_step"

        def to_string(self):
            return TEXT

    class Executable:
        def hlo_modules(self):
            return [Module()]

    def compile_or_get_cached(*args):
        return Executable()
'''
PROGRAM_TEXT = """
    import ctypes, os
    if os.environ.get("LOAD", "1") == "1":
        ctypes.PyDLL(os.environ["STRATA_INJECT"]).strata_inject_start(b"none")
    from jax._src import array, compiler
    compiler.compile_or_get_cached()
    for i in range(5):
        a = array.ArrayImpl()
        assert float(a) == 3.5
        assert float(a) == 3.5  # known by now: no wait
        a.block_until_ready()
    array.xc.batched_block_until_ready([a])
    print("done")
"""


@pytest.fixture
def run(tmp_path):
    package = tmp_path / "lib" / "site-packages" / "jax" / "_src"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "array.py").write_text(textwrap.dedent(ARRAY))
    (package / "compiler.py").write_text(textwrap.dedent(COMPILER))
    (tmp_path / "train.py").write_text(textwrap.dedent(PROGRAM_TEXT))

    def go(**env):
        done = subprocess.run(
            [PROGRAM, "run", "-o", str(tmp_path / "out"), "--level", "timeline", "--",
             sys.executable, "train.py"],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
            env=clean_environment(PYTHONPATH=tmp_path / "lib" / "site-packages", **env))
        assert done.returncode == 0 and "done" in done.stdout, done.stderr
        return sorted((tmp_path / "out").glob("*/*/rings"))

    return go


def test_waits_are_syncs_with_the_line_of_the_program(run):
    folder = run()[0].parent
    done = subprocess.run([PROGRAM, "syncs", str(folder), "--json"], capture_output=True, text=True,
                          check=True)
    sites = json.loads(done.stdout)["sites"]
    seen = {(s["call"], s["kind"]): (s["count"], s["source"]["file"], s["source"]["line"]) for s in sites}
    text = textwrap.dedent(PROGRAM_TEXT).splitlines()
    lines = {word: next(i for i, line in enumerate(text, 1) if word in line)
             for word in ("float(a) == 3.5", "a.block", "batched")}
    assert seen[("jax.Array.__float__", "readback")] == (5, "train.py", lines["float(a) == 3.5"])
    blocked = sorted((s["count"], s["source"]["line"]) for s in sites if s["call"] == "jax.block_until_ready")
    assert blocked == [(1, lines["batched"]), (5, lines["a.block"])]
    assert all(s["blocked_us"] > 900 for s in sites)


def test_lines_of_kernels_are_kept(run, tmp_path):
    folder = run()[0].parent
    path = tmp_path / "trace.json"
    subprocess.run([PROGRAM, "export", str(folder), "-o", str(path)], check=True, capture_output=True)
    assert json.loads(path.read_text())["strata_sources"] == [
        ["jit_step", "loop_add_fusion_1", "add", "/home/me/train.py(8): loss"]]


def test_a_program_without_a_device_runs_as_ever(run):
    assert run(LOAD="0") == []  # the library is not there: nothing to record with


HLO = """HloModule jit_step, is_scheduled=true

FileNames
1 "/home/me/train.py"
2 "/home/me/model.py"

FunctionNames
1 "<module>"
2 "Model.step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=18 end_line=18 column=7 end_column=17}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=23 end_column=53}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%region_0.1 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  ROOT %add.9 = f32[] add(%a, %b), metadata={op_name="inside" stack_frame_id=1}
}

%fused_computation (param_0.2: f32[64,64]) -> f32[] {
  %param_0.2 = f32[64,64]{1,0} parameter(0)
  %pow.0 = f32[64,64]{1,0} multiply(%p, %p), metadata={op_name="jit(step)/pow" stack_frame_id=1}
  ROOT %sum.0 = f32[] reduce(%pow.0), to_apply=%region_0.1, metadata={op_name="sum" stack_frame_id=2}
}

ENTRY %main.2 (x.1: bf16[64,64]) -> (bf16[64,64], f32[]) {
  %x.1 = bf16[64,64]{1,0} parameter(0), metadata={op_name="x"}
  %fusion.3 = f32[] fusion(%x.1), kind=kLoop, calls=%fused_computation
  %gemm.1 = bf16[8]{0} custom-call(%x), metadata={op_name="dot" source_file="/old/jax.py" source_line=12}
  %nothing.1 = f32[] copy(%fusion.3)
  ROOT %tuple.1 = (bf16[64,64]{1,0}, f32[]) tuple(%x.1, %fusion.3), metadata={op_name="t" stack_frame_id=1}
}
"""


def test_sources_of_an_hlo():
    assert list(jax_side.sources(HLO)) == [
        ("fusion_3", "sum", "/home/me/model.py(7): step"),
        ("gemm_1", "dot", "/old/jax.py(12): <module>"),
    ]


def test_a_broken_hlo_has_no_sources():
    assert list(jax_side.sources("")) == []
    text = "FileNames\n1 x\nStackFrames\n99999999999999999999 {}\n  %a = f32[] add("
    assert list(jax_side.sources(text)) == []
