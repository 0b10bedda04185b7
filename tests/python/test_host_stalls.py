"""Why a thread that launches was late, planted on a fake GPU: no core, page faults, Python's lock, a cgroup's
limit. What is asserted are shares, not times: the machine may be busy with other things as well."""
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conftest import PROGRAM
from test_capture import capture  # noqa: F401

HEAD = """
    import ctypes, mmap, os, subprocess, sys, threading, time
    ctypes.CDLL(os.environ["APP_CUPTI"], ctypes.RTLD_GLOBAL)  # as torch does
    cuda, kernel = ctypes.PyDLL("libcuda.so.1"), ctypes.c_char_p(b"gemm")  # launches keep the lock

    def compute(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    def loop(n, between):
        cuda.cuInit(0)
        for _ in range(n):
            for _ in range(20):
                cuda.cuLaunchKernel(kernel, 1, 0)
            between()
        cuda.cuStreamSynchronize(0)
"""
HEALTHY = "loop(40, lambda: compute(0.004))"
HOG = """
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    hogs = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(2)]
    time.sleep(0.3)
    try:
        loop(40, lambda: compute(0.004))
    finally:
        for hog in hogs:
            hog.kill()
"""
FAULTS = """
    def touch():
        with mmap.mmap(-1, 16 << 20) as memory:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            memory[::4096] = bytes(4096)  # one byte of each page
    loop(40, touch)
"""
GIL = """
    over = False
    def hold():
        while not over:
            sum(range(1_000_000))  # one call of C, which keeps the lock
    threading.Thread(target=hold).start()
    loop(40, lambda: compute(0.006))
    over = True
"""
THROTTLED = """
    folder = os.environ["TEST_CGROUP"]
    with open(folder + "/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
    loop(20, lambda: compute(0.008))
"""
TRIES = 3  # where others take the cores, the thread that looks comes late as well
PLANTED = {"no_core", "throttled", "page_faults", "gil"}


def planted(capture, tmp_path, text, kind, least, **env):  # noqa: F811
    """The causes, of the first try in which that one has so much of the idle time."""
    for _ in range(TRIES):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        idle = idle_by_cause(capture, tmp_path, text, **env)
        if share(idle, kind) >= least:
            return idle
    raise AssertionError({k: share(idle, k) for k in idle})


def idle_by_cause(capture, tmp_path, text, **env):  # noqa: F811
    script = tmp_path / "late.py"
    script.write_text(textwrap.dedent(HEAD) + textwrap.dedent(text))
    run = capture(command=[sys.executable, str(script)], **env)
    assert run.status == 0, run.stderr
    idle = {}
    for cause in run.ask("gaps", "--whole")["causes"]:
        idle.setdefault(cause["kind"], []).append(cause)
    return idle


def share(idle, kind):
    """Of the idle time; without what other programs on this machine took of it."""
    others = {"no_core", "throttled"} - {kind}
    every = sum(c["idle_us"] for k, causes in idle.items() if k not in others for c in causes)
    return sum(c["idle_us"] for c in idle.get(kind, [])) / every


@pytest.mark.parametrize("text, kind, least", [(HOG, "no_core", 0.3), (FAULTS, "page_faults", 0.15),
                                               (GIL, "gil", 0.15)], ids=["core", "faults", "gil"])
def test_a_planted_cause_is_named(capture, tmp_path, text, kind, least):  # noqa: F811
    idle = planted(capture, tmp_path, text, kind, least)
    first = max(idle[kind], key=lambda c: c["idle_us"])
    if kind == "no_core":
        bound = len(os.sched_getaffinity(0)) > 1
        assert ("bound to 1 of" in first["name"]) == bound, first
    if kind == "page_faults":
        assert first["source"]["function"] == "touch", first


def test_the_noise_of_the_machine_is_a_figure(capture, tmp_path):  # noqa: F811
    """What missing cores took, in the report and beside the change of a diff, which discounts it."""
    folders, late = [], []
    for text in (HEALTHY, HOG):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        script = tmp_path / "late.py"
        script.write_text(textwrap.dedent(HEAD) + textwrap.dedent(text))
        run = capture(command=[sys.executable, str(script)])
        late.append(run.ask("report", "--whole")["host_late_us"])
        folders.append(tmp_path / f"kept{len(folders)}")
        shutil.copytree(run.folder, folders[-1])
    assert late[1] > 50_000
    done = subprocess.run([PROGRAM, "report", "--whole", str(folders[1])], capture_output=True, text=True,
                          check=True)
    assert " ".join(done.stdout.split()).count("because a thread that launches had no core") == 1
    done = subprocess.run([PROGRAM, "diff", "--whole", "--allow-untrusted", *map(str, folders)],
                          capture_output=True, text=True, check=True)
    assert "launching threads had no core: " in done.stdout


def test_a_healthy_program_has_none_of_its_own(capture, tmp_path):  # noqa: F811
    """A core may be missing on a machine that others use; the rest is the program's own doing."""
    idle = idle_by_cause(capture, tmp_path, HEALTHY)
    assert not set(idle) & (PLANTED - {"no_core", "throttled"}), set(idle)


@pytest.fixture
def limited(tmp_path):
    """A cgroup that may use a twentieth of a core, less than a busy machine leaves it; only where this user
    may make one."""
    for root, files in (("/sys/fs/cgroup", {"cpu.max": "5000 100000"}),
                        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"})):
        folder = Path(root) / f"strata-test-{os.getpid()}"
        if not (Path(root) / "cgroup.procs").exists():
            continue
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            for name, text in files.items():
                with open(folder / name, "r+") as file:
                    file.write(text)
        except OSError:
            folder.rmdir()
            continue
        yield str(folder)
        folder.rmdir()
        return
    pytest.skip("no cgroup can be made here")


def test_a_limit_of_the_cgroup_is_named(capture, tmp_path, limited):  # noqa: F811
    planted(capture, tmp_path, THROTTLED, "throttled", 0.1, TEST_CGROUP=limited)
