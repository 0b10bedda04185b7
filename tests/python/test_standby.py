"""strata run --level standby, strata record and strata record, on a GPU that is not there (tests/capture),
and on Python programs without one."""
import json
import os
import shutil
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
        try:
            self.pid = self.found()["pid"]
        except BaseException:
            self.end()
            raise
        self.run = next(self.out.glob("*/*"))

    def found(self):
        """What strata record says of it, as soon as it is there."""
        for _ in range(300):
            mine = [p for p in json.loads(strata("record", "--json").stdout)["processes"]
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
        said = strata("record", program.pid, "--for", "400ms", "--quiet").stderr
        assert str(program.run) in said
        assert program.state() == "idle" and program.found()["parts"] == part
    info = program.ask("info")
    assert program.kernels() > 100  # how many is up to the machine
    assert info["device_work_without_launch"] == 0
    first, last = (program.ask("report", "--part", str(n)) for n in (1, 3))
    assert first != last and program.process.poll() is None


def test_the_report_comes_at_once(waiting):
    program = waiting("steady=100000000")
    shown = strata("record", program.run, "--for", "300ms").stdout
    assert "GPU busy" in shown and program.run.name in shown


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
    app, limited = FAKES / "capture_app", tmp_path / "limited.sh"
    limited.write_text(f"#!/bin/sh\nulimit -f 512\nexec '{app}' steady=100000000\n")
    limited.chmod(0o755)
    program = waiting(command=[str(limited)])
    counts = []
    while len(counts) < 2 or (max(counts) <= 100 and len(counts) < 10):  # little runs on a busy machine
        strata("record", program.pid, "--for", "500ms", "--quiet")
        counts.append(program.kernels())
    assert program.state() == "idle" and program.process.poll() is None
    assert max(counts) > 100, counts


def test_who_cannot_be_recorded_is_told_why():
    assert "there is no process" in strata("record", 4194303, status=2).stderr
    assert "neither" in strata("record", "nonsense", status=2).stderr


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


FUNCTIONS = """
    import time
    import torch

    open("imported", "w").close()

    def squares():
        return sum(i * i for i in range(20000))

    while True:
        squares()
        time.sleep(0.001)
"""


def test_functions_of_a_program_that_launches_nothing(waiting, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "squares.py").write_text(textwrap.dedent(FUNCTIONS))
    program = waiting(command=[sys.executable, str(tmp_path / "squares.py")])
    wait_for((tmp_path / "imported").exists)
    for _ in range(2):
        strata("record", program.pid, "--for", "700ms", "--quiet")
    for part in ("1", "2"):
        hot = program.ask("report", "--part", part)["cpu"]["functions"]
        assert any("squares" in row["name"] for row in hot), part


SERVING = """
    import os, time
    import strata, torch
    x = torch.ones(4, 8)
    done = os.open("done", os.O_CREAT | os.O_RDWR)
    for n in range(1, 100000):
        with strata.stage("request"):
            with torch.profiler.record_function("of torch"):
                (x * 2).sum()
                time.sleep(0.002)
        os.pwrite(done, b"%d" % n, 0)
"""


def test_counts_after_a_part_was_recorded(waiting, tmp_path):
    """The table of a server has every call, whatever was recorded in between and however it ended; the
    only part of it covers what was asked for, not what went before."""
    pytest.importorskip("torch")
    (tmp_path / "serving.py").write_text(textwrap.dedent(SERVING))
    program = waiting(command=[sys.executable, str(tmp_path / "serving.py")], STRATA_CHECKPOINT=1000,
                      PYTHONPATH=str(Path(BUILD) / "python"))

    def served():
        return int((tmp_path / "done").read_text() or 0) if (tmp_path / "done").exists() else 0

    def counted(*options):
        found = program.ask("stages", *options)
        return {s["path"]: s["count"] for s in found["stages"]}

    wait_for(lambda: served() > 500)
    strata("record", program.pid, "--for", "500ms", "--quiet")
    before = served()
    wait_for(lambda: served() > before + 200)
    at_least = served()
    live = counted()
    assert at_least - 1 <= live["request"] <= served() + 1 and set(live) == {"request"}, live
    wall = program.ask("report")["wall_us"] / 1e6
    assert 0.3 < wall < 3, wall
    os.kill(program.pid, signal.SIGTERM)
    program.process.wait()
    assert served() - 1 <= counted()["request"] <= served() + 1
    assert f" {counted()['request']:,} " in program.log.read_text()


KEEP = ("--keep", "2s")


def snapshots(program):
    return sorted((program.run / "snapshots").glob("*-*"), key=lambda p: int(p.name.split("-")[1]))


def report(folder):
    return json.loads(strata("report", folder, "--json").stdout)


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_last_seconds_are_kept(waiting):
    """In files that do not grow; whoever asks gets the last second, and it goes on."""
    program = waiting("steady=100000000", options=("--keep", "1s"))
    assert program.state() == "keeping"
    time.sleep(4)
    said = strata("record", program.pid, "--snapshot", "--quiet").stderr
    (folder,) = snapshots(program)
    assert str(folder) in said
    shown = report(folder)
    assert shown["snapshot"]["why"] == "strata record"
    assert 0 < shown["part"]["shown_us"] < 2e6
    assert "lost" not in damage(folder)
    assert sum(f.stat().st_size for f in program.run.glob("rings/*.ring")) < 64 << 20
    refused = strata("record", program.pid, "--for", "1s", status=2).stderr
    assert "recorded all the time" in refused and program.process.poll() is None


def damage(folder):
    """All that strata info --lint says of a recording."""
    done = subprocess.run([PROGRAM, "info", "--lint", str(folder)], capture_output=True, text=True,
                          timeout=120,
                          check=False, env=clean_environment())
    assert done.stdout
    return done.stdout + done.stderr


@pytest.mark.slow
def test_what_was_overwritten_is_not_lost(waiting):
    """The files have stopped growing: the oldest records make room for the newest."""
    program = waiting("steady=100000000", options=("--keep", "1s"))
    sizes = [0]

    def is_full():
        time.sleep(2)
        sizes.append(sum(f.stat().st_size for f in program.run.glob("rings/*.ring")))
        return sizes[-1] == sizes[-2] > 1 << 20

    wait_for(is_full)
    strata("record", program.pid, "--snapshot", "--quiet")
    (folder,) = snapshots(program)
    assert "lost" not in damage(folder)
    assert report(folder)["part"]["shown_us"] > 0


@pytest.mark.slow
def test_what_the_device_has_done_is_fetched_first(waiting):
    """CUPTI learns of it late; what was launched meanwhile is left out, and the rest can be judged."""
    program = waiting("steady=100000000", options=("--keep", "2s"), FAKE_CUPTI="late=700")
    time.sleep(3)
    strata("record", program.pid, "--snapshot", "--quiet")
    (folder,) = snapshots(program)
    shown = report(folder)
    problems = {p["id"]: p["level"] for p in shown["trace_quality"]["problems"]}
    assert problems.get("records_stop_early", "good") == "good", problems
    assert shown["trace_quality"]["idle_trusted"], problems
    assert not shown["part"]["lost_end"] and shown["part"]["shown_us"] > 2e6
    assert shown["part"]["after_us"] > 3e5  # launched while it waited


def test_a_signal_asks_for_a_snapshot(waiting):
    program = waiting("steady=100000000", options=KEEP)
    for n in (1, 2):
        time.sleep(0.5)
        os.kill(program.pid, signal.SIGUSR2)
        wait_for(lambda n=n: len(snapshots(program)) == n and (snapshots(program)[-1] / "rings").is_dir())
    time.sleep(1)
    assert report(snapshots(program)[0])["snapshot"]["why"] == "SIGUSR2"


def test_a_program_that_empties_its_environment(waiting, tmp_path):
    """What it was told at its start is known."""
    pytest.importorskip("torch")
    (tmp_path / "loop.py").write_text(textwrap.dedent("""
        import os, time
        import torch
        os.environ.clear()
        open("cleared", "w").close()
        while True:
            sum(range(20000))
            time.sleep(0.001)
    """))
    program = waiting(command=[sys.executable, str(tmp_path / "loop.py")], options=KEEP)
    wait_for((tmp_path / "cleared").exists)
    time.sleep(0.5)
    os.kill(program.pid, signal.SIGUSR2)
    wait_for(lambda: snapshots(program) and (snapshots(program)[-1] / "rings").is_dir())
    assert report(snapshots(program)[0])["snapshot"]["why"] == "SIGUSR2"
    assert program.process.poll() is None


def test_what_a_killed_program_kept_is_there(waiting):
    program = waiting("steady=100000000", options=KEEP)
    time.sleep(1)
    os.kill(program.pid, signal.SIGKILL)
    program.process.wait(timeout=60)
    assert program.kernels() > 1000


def test_a_snapshot_that_finds_no_room(waiting, tmp_path):
    """The program goes on, and the command says what happened."""
    program = waiting("steady=100000000", options=KEEP)
    time.sleep(0.5)
    (program.run / "snapshots").mkdir()
    (program.run / "snapshots" / f"{program.pid}-1").mkdir()  # its place is taken
    assert "cannot create" in strata("record", program.pid, "--snapshot", status=2).stderr
    assert program.state() == "keeping" and program.process.poll() is None


SLOW = """
    import signal, sys, time
    import torch
    import strata
    got = []
    signal.signal(signal.SIGUSR2, lambda *a: got.append(a[0]))
    def from_disk():
        time.sleep(0.4)
    @strata.stage("request")
    def request(i):
        torch.ones(8).sum()
        time.sleep(0.02)
        if i == 40:
            from_disk()
    for i in range(60):
        request(i)
    signal.raise_signal(signal.SIGUSR2)
    print("by hand:", strata.snapshot("by hand"), "got", got, flush=True)
"""


def test_a_slow_stage_is_written_out(tmp_path):
    """With what took so long, and no handler of the program's is replaced."""
    pytest.importorskip("torch")
    (tmp_path / "slow.py").write_text(textwrap.dedent(SLOW))
    done = subprocess.run(
        [PROGRAM, "run", "-o", str(tmp_path / "out"), "--keep", "10s", "--slow", "4x", "--", sys.executable,
         str(tmp_path / "slow.py")], capture_output=True, text=True, timeout=120, env=clean_environment())
    assert done.returncode == 0 and f"got [{int(signal.SIGUSR2)}]" in done.stdout, done.stdout + done.stderr
    whys = {report(folder)["snapshot"]["why"]: folder
            for folder in (tmp_path / "out").glob("*/*/snapshots/*")}
    assert "by hand" in whys and not any("SIGUSR2" in why for why in whys)
    (folder,) = [folder for why, folder in whys.items() if why.startswith("request took")]
    odd = report(folder)["snapshot"]
    assert odd["wall"]["here_us"] > 4e5 > 2 * odd["wall"]["usual_us"]
    assert "from_disk" in odd["parts"][0]["name"]
    assert "snapshot: request took" in strata("report", folder).stdout


NOISY = """
    import time, torch
    import strata
    model = torch.nn.Sequential(torch.nn.Linear(8, 8))
    x = torch.ones(4, 8)

    def slow_forward(*_):
        time.sleep(0.01)

    for i in range(60):
        if i % 15 == 14:
            handle = model.register_forward_hook(slow_forward)
        model(x)                              # outside the stages: derived
        if i % 15 == 14:
            handle.remove()
        with strata.stage("request"):
            with strata.stage("inside"):
                time.sleep(0.3 if i == 45 else 0.005 + 0.02 * (i == 44))
    time.sleep(1)                             # for the snapshot
"""


def test_requests_go_before_what_is_derived(tmp_path):
    """A module that nobody named takes ten times its usual time now and then; the slow request comes right
    after an inner stage that was slow, too."""
    pytest.importorskip("torch")
    (tmp_path / "noisy.py").write_text(textwrap.dedent(NOISY))
    done = subprocess.run(
        [PROGRAM, "run", "-o", str(tmp_path / "out"), "--keep", "10s", "--slow", "2x", "--", sys.executable,
         str(tmp_path / "noisy.py")], capture_output=True, text=True, timeout=120,
        env=clean_environment(PYTHONPATH=str(Path(BUILD) / "python")))
    assert done.returncode == 0, done.stderr
    whys = [report(folder)["snapshot"]["why"] for folder in (tmp_path / "out").glob("*/*/snapshots/*")]
    assert any(why.startswith("request took 30") for why in whys), whys
    assert not any("Sequential" in why for why in whys), whys


UNNAMED = """
    import queue, threading, time, torch
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
    x = torch.ones(64, 64)
    work = queue.Queue()
    def lookup_user_quota():
        end = time.thread_time() + 0.2
        while time.thread_time() < end:
            pass
    def answer(i):
        if i == 45:
            lookup_user_quota()
        for _ in range(20):
            model(x)
        with torch.no_grad():
            return model(x)[0, 0].item()
    def serve():
        while True:
            i = work.get()
            if i is None:
                return
            answer(i)
    worker = threading.Thread(target=serve)
    worker.start()
    for i in range(60):
        work.put(i)
        time.sleep(0.03 + 0.3 * (i == 30))   # a pause between requests is no slow request
    work.put(None)
    worker.join()
    time.sleep(1)                            # for the snapshot
"""


def test_requests_that_nobody_named(tmp_path):
    """What their thread computes before it calls the model is slow: that is said, and the function is named
    by its path from the working directory; waiting for a request is not."""
    pytest.importorskip("torch")
    (tmp_path / "server.py").write_text(textwrap.dedent(UNNAMED))
    done = subprocess.run(
        [PROGRAM, "run", "-o", "out", "--keep", "10s", "--slow", "20x", "--", sys.executable, "server.py"],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
        env=clean_environment(PYTHONPATH=str(Path(BUILD) / "python"), OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr
    found = [(report(folder)["snapshot"], folder) for folder in (tmp_path / "out").glob("*/*/snapshots/*")]
    said = [odd["why"] for odd, _ in found]
    [(odd, folder)] = [(o, f) for o, f in found if "with what came before it" in o["why"]]
    assert odd["why"].startswith("Sequential took 2"), said
    assert odd["unit"] == "Sequential" and odd["wall"]["here_us"] > 2e5
    assert "lookup_user_quota" in odd["parts"][0]["name"]
    text = strata("report", folder).stdout
    assert " in server.py:" in text and "others" in text, text


def test_words_that_go_together():
    for level in ((), ("--level", "timeline")):
        said = strata("run", *level, "--slow", "2x", "--", "true", status=2).stderr
        assert "--slow goes with --keep" in said
    assert "a factor such as 1.5x" in strata("run", "--keep", "1s", "--slow", "no", "--", "true",
                                             status=2).stderr
    assert "a time such as 4s" in strata("run", "--keep", "1y", "--", "true", status=2).stderr


SERVER = """
    import asyncio
    import strata

    @strata.stage("queue")
    async def queue(room):
        await room.acquire()

    @strata.stage("decode")
    async def decode(tokens):
        for _ in range(tokens):
            await asyncio.sleep(0.001)

    @strata.stage("request")
    async def request(room, tokens):
        await queue(room)
        try:
            await decode(tokens)
        finally:
            room.release()

    async def main():
        room = asyncio.Semaphore(8)
        await asyncio.gather(*(request(room, 200 if i % 20 == 7 else 5) for i in range(60)))
    asyncio.run(main())
"""


def test_slow_requests_of_a_server(tmp_path):
    """Tasks of one thread: what the slowest twentieth does that those in the middle do not."""
    (tmp_path / "server.py").write_text(textwrap.dedent(SERVER))
    strata("run", "-o", tmp_path / "out", "--", sys.executable, tmp_path / "server.py",
           PYTHONPATH=str(Path(BUILD) / "python"))
    (folder,) = (tmp_path / "out").glob("*/*")
    served = report(folder)["requests"]
    assert served["stage"] == "request" and served["calls"] == 60 and served["most_at_once"] > 8
    assert served["parts"][0]["stage"] == "decode"
    assert served["slow_us"] > served["usual_us"]
    assert "of it in decode" in strata("report", folder).stdout


# ---- Python 3.14's sys.remote_exec, where there is no such Python ----

DOOR = """
    import os, signal, sys

    def _run(*_):
        with open(os.environ["REMOTE"] + "." + str(os.getpid())) as f:
            path = f.read()
        with open(path) as f:
            exec(compile(f.read(), path, "exec"), {"__name__": "__main__"})

    def remote_exec(pid, path):
        with open(os.environ["REMOTE"] + "." + str(pid), "w") as f:
            f.write(path)
        os.kill(pid, signal.SIGUSR1)

    if sys.flags.isolated:  # the one that hands over
        sys.version_info = (3, 14, 0, "final", 0)
        sys.remote_exec = remote_exec
    else:
        signal.signal(signal.SIGUSR1, _run)
"""

ENTERED = """
    import ctypes, os, sys, time, types
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda, kernel = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")
    torch = sys.modules["torch"] = types.ModuleType("torch")  # all that matters of it
    torch.version = types.SimpleNamespace(cuda="13.0")
    cuda.cuInit(0)

    def frame():
        for _ in range(20):
            cuda.cuLaunchKernel(kernel, 1, 0)
        cuda.cuCtxSynchronize()

    print("ready", flush=True)
    while True:
        frame()
        time.sleep(0.0005)
"""


@pytest.fixture
def python_that_can_be_entered(tmp_path):
    """A Python like ours, called python3.14, that takes scripts: by a signal, whose handler runs where
    PEP 768 runs them, between two instructions of the main thread."""
    real = Path(os.path.realpath(sys.executable))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    library = Path(os.__file__).parent
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "lib" / version / "site-packages").mkdir(parents=True)
    shutil.copy(real, home / "bin" / "python3.14")
    for entry in library.iterdir():
        if entry.name != "site-packages":
            (home / "lib" / version / entry.name).symlink_to(entry)
    (home / "lib" / version / "site-packages" / "sitecustomize.py").write_text(textwrap.dedent(DOOR))
    return home / "bin" / "python3.14"


def test_a_python_that_was_not_started_by_us_is_entered(python_that_can_be_entered, tmp_path):
    libraries = tmp_path / "lib"
    libraries.mkdir()
    for name, file in (("libcuda.so.1", "libcuda.so.1"), ("libcupti.so.13", "libcupti.so.13.fake")):
        (libraries / name).symlink_to(FAKES / file)
    (tmp_path / "frames.py").write_text(textwrap.dedent(ENTERED))
    env = clean_environment(LD_LIBRARY_PATH=libraries, APP_CUPTI="libcupti.so.13",
                            REMOTE=tmp_path / "remote")
    env.pop("PYTHONPATH")
    program = subprocess.Popen([str(python_that_can_be_entered), "frames.py"], cwd=tmp_path, env=env,
                               stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "ready\n"
        out = {"REMOTE": tmp_path / "remote", "STRATA_OUT": tmp_path / "out"}
        for part in (1, 2):
            strata("record", program.pid, "--for", "500ms", "--quiet", **out)
            assert program.poll() is None, part
        listed = json.loads(strata("record", "--json").stdout)["processes"]
        assert [p["parts"] for p in listed if p["pid"] == program.pid] == [2], listed
        (run,) = (tmp_path / "out").glob("*/*")
        assert not list(run.glob(".enter.py"))
        info = json.loads(strata("info", run, "--json").stdout)
        assert sum(c["events"] for c in info["categories"] if c["name"] == "kernel") > 100
        assert json.loads(strata("report", run, "--part", "2", "--json").stdout)
        (site, *_) = json.loads(strata("syncs", run, "--json").stdout)["sites"]
        assert site["source"]["function"] == "frame" and site["source"]["file"].endswith("frames.py")
    finally:
        program.kill()
        program.wait()
