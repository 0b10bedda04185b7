"""A long run is not recorded throughout: the recorder rests and wakes (src/backend/rest.h), on a GPU
that is not there. STRATA_TEST_REST makes all its times shorter."""
import json
import re
import subprocess
import sys
import textwrap

import pytest

from conftest import PROGRAM
from test_capture import capture  # noqa: F401

LOOP = """
    import ctypes, os, sys, time
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")
    import strata
    cuda.cuInit(0)
    end, n = time.monotonic() + float(sys.argv[1]), 0
    while time.monotonic() < end:
        with strata.stage("request"):
            for _ in range(4):
                cuda.cuLaunchKernel(kernel, 1, 0)
            cuda.cuStreamSynchronize(0)
            time.sleep(0.004)
        n += 1
        {more}
    print(n)
"""


@pytest.fixture
def loop(capture, tmp_path):  # noqa: F811
    def run(seconds, more="pass", options=(), **env):
        script = tmp_path / "loop.py"
        script.write_text(textwrap.dedent(LOOP).format(more=more))
        env.setdefault("STRATA_TEST_REST", "0.02")  # 0.2 s, and then parts of 20 ms
        return capture(command=[sys.executable, str(script), str(seconds)], options=options, **env)
    return run


def instants(run, tmp_path):
    path = tmp_path / "instants.json"
    subprocess.run([PROGRAM, "export", str(run.folder), "-o", str(path)], check=True, capture_output=True)
    return [e for e in json.loads(path.read_text())["traceEvents"]
            if str(e.get("name", "")).startswith("strata.recorder")]


def test_a_long_run_is_recorded_in_parts(loop, tmp_path):
    run = loop(2.5)
    assert run.status == 0
    report = run.ask("report")
    rests, units = report["rests"], int(run.stdout.split()[-1])
    assert rests["parts"] >= 3 and rests["recorded_us"] < 0.5 * rests["run_us"]
    assert rests["run_us"] > 2.4e6
    assert rests["unit"] == "request" and units - 20 <= rests["units"] <= units
    assert rests["rest_usual_us"] > 0 and rests["usual_us"] > 4000
    # rests are not idle time, and units are not counted as without work
    assert report["trace_quality"]["coverage"]["pct"] == 100
    assert report["wall_us"] <= rests["recorded_us"] * 1.05
    shown = sum(r["calls"] for r in run.ask("kernels")["rows"])  # without the units that a border cuts
    assert shown % 4 == 0 and 0.5 * run.counts()["kernel"] < shown <= run.counts()["kernel"]
    said = " ".join(run.stderr.split())  # lines are wrapped
    assert re.search(r"recorded: [\d.]+ m?s of [23]\.\d+ s, in \d+ parts; the recorder rested in between "
                     r"\(--always records all\)", said), run.stderr
    # nor in tables
    subprocess.run([PROGRAM, "export", str(run.folder), "--to", "tables", "-o", str(tmp_path / "tables")],
                   check=True, capture_output=True, timeout=60)
    told = subprocess.run([PROGRAM, "sql", "--python", sys.executable, str(tmp_path / "tables"), "--json",
                           "select wall_ns from runs"], check=True, capture_output=True, text=True)
    assert json.loads(told.stdout)[0]["wall_ns"] / 1e3 <= rests["recorded_us"] * 1.05
    # stages are counted all the time
    assert re.search(rf"request +{units:,} ", run.stderr)


def test_always(loop, tmp_path):
    run = loop(1, options=["--always"])
    units = int(run.stdout.split()[-1])
    assert run.counts()["kernel"] == 4 * units
    assert "rests" not in run.ask("report") and not instants(run, tmp_path)


def test_a_short_run_is_recorded_throughout(loop, tmp_path):
    run = loop(1, STRATA_TEST_REST="1")
    assert run.counts()["kernel"] == 4 * int(run.stdout.split()[-1])
    assert not instants(run, tmp_path)


def test_ranks_do_not_rest(loop, tmp_path):
    run = loop(1, RANK="0", WORLD_SIZE="2")
    assert not instants(run, tmp_path)


def test_a_part_that_the_program_asks_for_is_recorded(loop, tmp_path):
    """Also in the middle of a rest, from about its begin to its end."""
    more = """
        if n == 150:
            with strata.timeline():
                time.sleep(0.05)
                for _ in range(50):
                    cuda.cuLaunchKernel(ctypes.c_char_p(b"wanted"), 1, 0)
                cuda.cuStreamSynchronize(0)
    """
    run = loop(2, more=textwrap.indent(textwrap.dedent(more), " " * 4).strip())
    kernels = {r["name"]: r["calls"] for r in run.ask("kernels", "--whole")["rows"]}
    assert kernels["wanted"] == 50
    assert run.ask("report")["rests"]["parts"] >= 2


def test_a_program_that_records_itself_is_not_entered(loop, tmp_path):
    """In the middle of a rest or of a part: two recorders would switch CUPTI against each other."""
    more = """
        if n == 60:
            import subprocess
            command = [os.environ["TEST_STRATA"], "record", str(os.getpid()), "--for", "100ms"]
            asked = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=os.environ["STRATA_OUT"])
        elif n == 200:
            told = asked.communicate(timeout=60)[1]
            print(asked.returncode, told.strip())
    """
    run = loop(3, more=textwrap.indent(textwrap.dedent(more), " " * 4).strip(), TEST_STRATA=PROGRAM,
               STRATA_TEST_REST="0.05")
    assert run.status == 0, run.stderr
    first = run.stdout.splitlines()[0]
    assert first.startswith("2 ")
    assert "records its timeline itself (strata run --level timeline), to " in first
    assert run.ask("report")["rests"]["parts"] >= 1


def test_always_is_for_timelines(capture):  # noqa: F811
    run = capture("launch=1", options=["--always", "--level", "standby"])
    assert run.status == 2 and "--always goes with --level timeline" in run.stderr
