"""strata run --level standby, strata record and strata ps, on a GPU that is not there (tests/capture),
and on Python programs without one."""
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from conftest import BUILD, PROGRAM, clean_environment

FAKES = Path(BUILD) / "tests" / "capture"


def strata(*words, status=0, **env):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120,
                          check=False, env=clean_environment(**env))
    assert done.returncode == status, done.stderr
    return done


class Program:
    """One that waits to be recorded, or keeps its last seconds."""

    def __init__(self, folder, command, options, env):
        self.out, self.log = folder / "out", folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", "-o", str(self.out), *options, "--", *command], stdout=log, stderr=log,
                cwd=folder, env=env, start_new_session=True)
        self.pid = self.found()["pid"]
        self.run = next(self.out.glob("*/*"))

    def found(self):
        """What strata ps says of it, as soon as it is there."""
        for _ in range(300):
            mine = [p for p in json.loads(strata("ps", "--json").stdout)["processes"]
                    if p["run"].startswith(str(self.out))]
            if mine:
                return mine[0]
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def state(self):
        return self.found()["state"]

    def ask(self, command, *options):
        return json.loads(strata(command, self.run, "--json", *options).stdout)

    def kernels(self, *options):
        counts = {c["name"]: c["events"] for c in self.ask("info", *options)["categories"]}
        return counts.get("kernel", 0)

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def waiting(tmp_path):
    """waiting(*words of the fake program) or waiting(command=...)."""
    made = []

    def start(*words, command=None, options=("--level", "standby"), **env):
        libraries = tmp_path / "lib"
        libraries.mkdir(exist_ok=True)
        for name, file in (("libcuda.so.1", "libcuda.so.1"), ("libcupti.so.13", "libcupti.so.13.fake")):
            (libraries / name).symlink_to(FAKES / file)
        env = clean_environment(LD_LIBRARY_PATH=libraries, APP_CUPTI="libcupti.so.13", **env)
        made.append(Program(tmp_path, command or [str(FAKES / "capture_app"), *words], options, env))
        return made[-1]

    yield start
    for program in made:
        program.end()


def test_nothing_is_touched_until_somebody_asks(waiting):
    program = waiting("steady=100000", "sleep=60000")
    assert program.state() == "idle"
    assert not list(program.run.glob("rings/*.ring"))
    mode = (program.run / "control" / str(program.pid)).stat().st_mode & 0o777
    assert mode == 0o600 and (program.run / "control").stat().st_mode & 0o777 == 0o700


def test_parts_of_a_running_program(waiting):
    """Several times on and off: what was launched meanwhile is there, and the program goes on."""
    program = waiting("steady=100000000")
    for part in (1, 2, 3):
        begun = time.monotonic()
        said = strata("record", program.pid, "--for", "400ms", "--quiet").stderr
        assert str(program.run) in said
        assert time.monotonic() - begun < 0.4 + 1 + 0.3 + 2  # to stop, to fetch; the rest is the machine
        assert program.state() == "idle" and program.found()["parts"] == part
    info = program.ask("info")
    assert program.kernels() > 3000 and info["device_work_without_launch"] == 0
    first, last = (program.ask("report", "--part", str(n)) for n in (1, 3))
    assert first != last and program.process.poll() is None


def test_the_report_comes_at_once(waiting):
    program = waiting("steady=100000000")
    shown = strata("record", program.run, "--for", "300ms").stdout
    assert "wall" in shown and program.run.name in shown


def test_only_one_records_at_a_time(waiting):
    program = waiting("steady=100000000")
    first = subprocess.Popen([PROGRAM, "record", str(program.pid), "--for", "20s", "--quiet"])
    while program.state() != "recording":
        time.sleep(0.05)
    said = strata("record", program.pid, "--for", "1s", status=2).stderr
    assert "it is being recorded already" in said
    first.send_signal(signal.SIGINT)  # Ctrl-C: ends, and keeps what there is
    assert first.wait(timeout=20) == 0
    assert program.state() == "idle" and program.kernels() > 100


def test_whoever_asked_is_killed(waiting):
    program = waiting("steady=100000000")
    asking = subprocess.Popen([PROGRAM, "record", str(program.pid), "--for", "60s", "--quiet"])
    while program.state() != "recording":
        time.sleep(0.05)
    asking.kill()
    asking.wait()
    deadline = time.monotonic() + 10
    while program.state() != "idle":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert program.process.poll() is None


def test_the_program_is_killed_while_it_is_recorded(waiting):
    program = waiting("steady=100000000")
    asking = subprocess.Popen([PROGRAM, "record", str(program.pid), "--for", "60s", "--quiet"],
                              stderr=subprocess.PIPE, text=True)
    while program.state() != "recording":
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(program.pid, signal.SIGKILL)
    assert asking.wait(timeout=30) == 0, asking.stderr.read()
    program.process.wait(timeout=60)
    assert program.kernels() > 500
    assert strata("record", program.pid, "--for", "1s", status=2).stderr


def test_a_full_disk_is_no_trouble_for_the_program(waiting, tmp_path):
    """Files of at most 256 KB: the recording is cut, the program and its recorder go on."""
    limited = tmp_path / "limited.sh"
    limited.write_text(f"#!/bin/sh\nulimit -f 512\nexec {FAKES / 'capture_app'} steady=100000000\n")
    limited.chmod(0o755)
    program = waiting(command=[str(limited)])
    for _ in range(2):
        strata("record", program.pid, "--for", "500ms", "--quiet")
    assert program.state() == "idle" and program.process.poll() is None
    assert program.kernels() > 100


def test_who_cannot_be_recorded_is_told_why():
    assert "there is no process" in strata("record", 4194303, status=2).stderr
    assert "does not wait to be recorded" in strata("record", 1, status=3).stderr
    assert "neither" in strata("record", "nonsense", status=2).stderr
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        said = strata("record", child.pid, status=None if sys.version_info >= (3, 14) else 3).stderr
        assert "Python 3.14 or later" in said
    finally:
        child.kill()
        child.wait()


LOOP = """
    import time
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
    x = torch.ones(4, 8)
    def step():
        with torch.profiler.record_function("step"):
            model(x).sum()
            time.sleep(0.005)
    while True:
        step()
"""


def test_a_python_program_without_a_gpu(waiting, tmp_path):
    """Operators, ranges nobody wrote and lines; until the loop has gone round so often."""
    pytest.importorskip("torch")
    (tmp_path / "loop.py").write_text(textwrap.dedent(LOOP))
    program = waiting(command=[sys.executable, str(tmp_path / "loop.py")])
    strata("record", program.pid, "--steps", "5", "--quiet")
    assert program.state() == "idle"
    assert program.ask("steps")["steps"][5:]
    names = {row["name"] for row in program.ask("table", "--whole")["rows"]}
    assert "aten::linear" in names
    assert "step" in json.dumps(program.ask("stages", "--whole"))
