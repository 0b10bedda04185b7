"""strata record PID of programs that were not started with strata (src/attach): entered, recorded, and
left as they were, also when strata is killed on its way."""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import pythons
from conftest import BUILD, PROGRAM, clean_environment

FAKES = Path(BUILD) / "tests" / "capture"
KILLS = 40

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64 only")

LOOP = """
    import sys, time
    def inner():
        return sum(range(3000))
    def work():
        for _ in range(50):
            inner()
    print("ready", flush=True)
    while True:
        work()
"""

WAITING_MAIN = """
    import threading
    def work():
        while True:
            sum(range(3000))
    threading.Thread(target=work, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()
"""


def strata(*words, status=0, **env):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120,
                          check=False, env=clean_environment(**env))
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def started(tmp_path):
    """started(*command): a program that has said that it is ready."""
    made = []

    def start(*command, ready=True, **env):
        env = clean_environment(**env)
        env.pop("PYTHONPATH", None)
        program = subprocess.Popen(list(map(str, command)), cwd=tmp_path, env=env, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        made.append(program)
        if ready:
            assert program.stdout.readline() == "ready\n"
        return program

    yield start
    for program in made:
        program.kill()
        program.wait()


def script(tmp_path, text):
    (tmp_path / "loop.py").write_text(textwrap.dedent(text))
    return tmp_path / "loop.py"


def cpu_ticks(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def check_runs(program):
    """Neither stopped nor traced in any thread, and going on."""
    assert program.poll() is None, program.stderr.read()
    for task in Path(f"/proc/{program.pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since
        assert re.search(r"^TracerPid:\t0$", status, re.M), status
        assert re.search(r"^State:\t[RSDX]", status, re.M), status
    before = cpu_ticks(program.pid)
    for _ in range(200):
        if cpu_ticks(program.pid) > before:
            return
        time.sleep(0.05)
    raise AssertionError("it does not go on")


def record(program, tmp_path):
    said = strata("record", program.pid, "--for", "300ms", "--quiet", STRATA_OUT=tmp_path / "out").stderr
    check_runs(program)
    (run,) = (tmp_path / "out").glob("*/*")
    return said, run


@pythons.every()
def test_a_python_program_is_entered(python, started, tmp_path):
    program = started(python, script(tmp_path, LOOP))
    said, run = record(program, tmp_path)
    assert re.search(r"thread \d+ was held for [0-9.]+ ms", said), said
    said, again = record(program, tmp_path)
    assert "was held" not in said and again == run  # it waits since then: nothing is stopped any more
    listed = json.loads(strata("record", "--json").stdout)["processes"]
    assert [p["parts"] for p in listed if p["pid"] == program.pid] == [2], listed
    names = b"".join(p.read_bytes() for p in run.glob("rings/*.defs"))
    assert b"loop.py(3): inner" in names


@pythons.every()
def test_a_main_thread_that_waits(python, started, tmp_path):
    """It comes by no instruction of Python's: the library is loaded by a thread of its own."""
    program = started(python, script(tmp_path, WAITING_MAIN))
    _, run = record(program, tmp_path)
    assert list(run.glob("rings/*.ring"))


def test_a_gpu_program_is_entered(started, tmp_path):
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for name, file in (("libcuda.so.1", "libcuda.so.1"), ("libcupti.so.13", "libcupti.so.13.fake")):
        (libraries / name).symlink_to(FAKES / file)
    program = started(FAKES / "capture_app", "steady=100000000", ready=False,
                      LD_LIBRARY_PATH=libraries, APP_CUPTI="libcupti.so.13")
    time.sleep(1)
    _, run = record(program, tmp_path)
    info = json.loads(strata("info", run, "--json").stdout)
    assert sum(c["events"] for c in info["categories"] if c["name"] == "kernel") > 100


@pytest.mark.parametrize("threads", [0, 63])
def test_a_program_under_load_is_entered(threads, started, tmp_path):
    program = started(FAKES / "capture_threads", threads)
    record(program, tmp_path)


@pytest.mark.parametrize("kind", ["c", "python"])
@pytest.mark.slow
def test_strata_is_killed_on_its_way(kind, started, tmp_path):
    """At many moments; the program goes on each time, and can still be recorded. One that was entered
    once is not entered again: every kill meets a Python of its own."""
    command = [FAKES / "capture_threads", 63] if kind == "c" else [sys.executable, script(tmp_path, LOOP)]
    program = started(*command)
    for i in range(KILLS):
        if kind == "python" and i:
            program.kill()
            program = started(*command)
        asking = subprocess.Popen([PROGRAM, "record", str(program.pid), "--for", "10s", "--quiet"],
                                  env=clean_environment(STRATA_OUT=tmp_path / f"out{i}"),
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.0007 * i)
        asking.kill()
        asking.wait()
        check_runs(program)
    strata("record", program.pid, "--for", "300ms", "--quiet", STRATA_OUT=tmp_path / "last")
    check_runs(program)


def test_one_that_is_stopped_is_refused(started, tmp_path):
    program = started(FAKES / "capture_threads", 0)
    program.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    assert "is stopped" in strata("record", program.pid, status=3, STRATA_OUT=tmp_path / "out").stderr
    program.send_signal(signal.SIGCONT)
    check_runs(program)
    assert not (tmp_path / "out").exists()


def test_one_under_seccomp_is_refused(started, tmp_path):
    """Its filter allows everything, but who can know that."""
    program = started(sys.executable, script(tmp_path, """
        import ctypes, struct
        allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
        filters = struct.pack("H6xQ", 1, ctypes.addressof(allow))
        prctl = ctypes.CDLL(None).prctl
        assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.c_char_p(filters), 0, 0) == 0
        print("ready", flush=True)
        while True:
            sum(range(3000))
    """))
    assert "seccomp" in strata("record", program.pid, status=3, STRATA_OUT=tmp_path / "out").stderr
    check_runs(program)


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to be another user")
def test_one_of_another_user_is_refused(tmp_path):
    program = subprocess.Popen(["sleep", "60"], user=65534)
    try:
        assert "another user" in strata("record", program.pid, status=3).stderr
    finally:
        program.kill()
        program.wait()


def test_one_that_is_traced_is_refused(started, tmp_path):
    program = started(FAKES / "capture_threads", 0)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(0x4206, program.pid, None, None) != 0:  # PTRACE_SEIZE
        pytest.skip("no ptrace here")
    assert "being traced" in strata("record", program.pid, status=3).stderr


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_a_static_program_is_refused(started, tmp_path):
    source, program = tmp_path / "a.c", tmp_path / "a.out"
    source.write_text("#include <unistd.h>\nint main(void) { for (;;) sleep(1); }\n")
    built = subprocess.run(["cc", "-static", "-o", program, source], capture_output=True, check=False)
    if built.returncode != 0:
        pytest.skip("no static C library")
    running = started(program, ready=False)
    assert "linked statically" in strata("record", running.pid, status=3).stderr
