"""Runs of several processes: forked, spawned, launched as ranks, killed."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from conftest import BUILD, PROGRAM, clean_environment


def strata(*args, **env):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, check=False,
                          timeout=600, env=clean_environment(**env))


def timing_files(folder):
    return sorted(p.name for p in folder.glob("timing*.json") if "signature" not in p.name)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(program, method):
    done = program(f"""
        import multiprocessing, os, strata

        def work(n):
            for _ in range(n):
                with strata.stage("work"):
                    pass

        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            with strata.stage("main"):
                children = [context.Process(target=work, args=(n,)) for n in (1, 2, 3)]
                for c in children: c.start()
                for c in children: c.join()
            assert all(c.exitcode == 0 for c in children)
    """)
    assert done.status == 0, done.stderr
    folder = done.folder()  # one for all
    assert len(timing_files(folder)) == 4
    reports = [json.loads((folder / name).read_text()) for name in timing_files(folder)]
    path = "main/work" if method == "fork" else "work"  # a forked child is still inside main
    assert sorted(r["stages"][path]["count"] for r in reports if path in r["stages"]) == [1, 2, 3]
    assert done.stderr.count("strata: ") == 1  # one table


def test_pool(program):
    done = program("""
        import multiprocessing, strata

        @strata.stage("square")
        def square(n):
            return n * n

        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(square, range(20)) == [n * n for n in range(20)]
                pool.close()
                pool.join()
            with strata.stage("main"):
                pass
    """)
    assert done.status == 0, done.stderr
    reports = [json.loads((done.folder() / n).read_text()) for n in timing_files(done.folder())]
    assert sum(r["stages"].get("square", {}).get("count", 0) for r in reports) == 20


def test_children_of_other_programs_join(program):
    done = program("""
        import os, subprocess, sys, strata
        with strata.stage("main"):
            os.chdir("/")
            subprocess.run([sys.executable, "-c",
                            "import strata\\nwith strata.stage('child'): pass"], check=True)
    """)
    assert done.status == 0, done.stderr
    assert len(timing_files(done.folder())) == 2


STRAGGLER = """
    import sys, time
    import torch, torch.distributed as dist
    import strata

    dist.init_process_group("gloo")
    me = dist.get_rank()
    x = torch.ones(100)
    for _ in range(12):
        with strata.stage("load"):
            time.sleep(0.002)
        with strata.stage("compute"):
            time.sleep(0.06 if me == int(sys.argv[1]) else 0.01)
        with strata.stage("all_reduce"):
            dist.all_reduce(x)
    dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.alone
def test_the_straggler_of_four_ranks_is_named(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(textwrap.dedent(STRAGGLER))
    launcher = os.path.join(os.path.dirname(sys.executable), "torchrun")
    done = strata("run", "-o", tmp_path, "--", launcher, "--nproc-per-node", 4,
                  tmp_path / "train.py", 2, PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert "rank 2 is the straggler" in done.stderr
    assert "the others wait for it in all_reduce" in done.stderr
    (folder,) = (tmp_path / "train").iterdir()
    assert timing_files(folder) == [f"timing_rank{n}.json" for n in range(4)]
    shown = json.loads(strata("stages", folder, "--json").stdout)
    assert [r["rank"] for r in shown["ranks"]] == [0, 1, 2, 3] and shown["world_size"] == 4
    assert shown["straggler"]["rank"] == 2 and shown["straggler"]["stage"] == "compute"
    compute = next(s for s in shown["stages"] if s["name"] == "compute")
    assert compute["max_rank"] == 2 and compute["count"] == 12
    assert compute["min_us"] <= compute["cpu_us"] <= compute["max_us"]
    assert compute["imbalance_pct"] > 50


LATE = """
    import sys, time
    import torch, torch.distributed as dist

    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    for _ in range(12):
        if dist.get_rank() == int(sys.argv[1]):
            time.sleep(0.1)
        model(torch.randn(4, 8)).sum().backward()
    time.sleep(0.3)  # see test_collectives.py
    dist.destroy_process_group()
"""


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.slow
@pytest.mark.alone
def test_a_rank_that_waits_in_backward_is_not_the_straggler(tmp_path, late):
    """Gradients are reduced inside backward, so the rank that is early stays there longer."""
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(textwrap.dedent(LATE))
    launcher = os.path.join(os.path.dirname(sys.executable), "torchrun")
    done = strata("run", "-o", tmp_path, "--", launcher, "--nproc-per-node", 2,
                  tmp_path / "train.py", late, PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert f"rank {late} is the straggler: it comes last, busy outside the stages" in done.stderr
    assert "the others wait for it in backward" in done.stderr
    (folder,) = (tmp_path / "train").iterdir()
    assert f"rank {late} is the straggler" in strata("report", folder).stdout
    straggler = json.loads(strata("stages", folder, "--json").stdout)["straggler"]
    assert straggler["rank"] == late and straggler["stage"] is None
    assert straggler["waiting_in"] == "backward" and straggler["wait_us"] > 600000


NAP = """
    import time
    import torch, torch.distributed as dist

    def nap():
        time.sleep(0.06)

    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    if dist.get_rank() == 0:
        time.sleep(0.9)  # start-up, which is no part of what follows
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    for _ in range(15):
        loss = model(torch.randn(16, 64)).sum()
        if dist.get_rank() == 1:
            nap()
        loss.backward()
    time.sleep(0.3)  # see test_collectives.py
    dist.destroy_process_group()
"""


@pytest.mark.alone
def test_timelines_of_ranks_name_who_is_late_and_its_line(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(textwrap.dedent(NAP))
    launcher = os.path.join(os.path.dirname(sys.executable), "torchrun")
    done = strata("run", "--level", "timeline", "-o", tmp_path, "--", launcher, "--nproc-per-node", 2,
                  tmp_path / "train.py", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert "rank 1 is late" in done.stderr and "nap" in done.stderr
    assert "no straggler" not in done.stderr
    (folder,) = (tmp_path / "train").iterdir()
    data = json.loads(strata("report", "--ranks", folder, "--json").stdout)
    assert [r["rank"] for r in data["ranks"]] == [0, 1] and data["world_size"] == 2
    assert all(r["host"] for r in data["ranks"])
    worst = data["stragglers"][0]
    assert (worst["rank"], worst["cause"]) == (1, "host")
    assert worst["source"]["function"] == "nap" and worst["source"]["file"].endswith("train.py")
    own_us = [sum(hop["own_us"] for hop in data["critical_path"] if hop["rank"] == rank) for rank in (0, 1)]
    assert own_us[1] > 4 * own_us[0] and sum(own_us) < data["ranks"][1]["wall_us"]
    assert data["ranks"][0]["wait_us"] > 4 * data["ranks"][1]["wait_us"]
    assert sum(c["name"] == "all_reduce" for c in data["collectives"]) == 15
    assert "_invoke_run" not in done.stderr  # of torchrun itself
    assert json.loads(strata("report", folder, "--json").stdout)["stragglers"] == data["stragglers"]
    assert "Rank 1 is the straggler" in (folder / "report.md").read_text()
    assert '"kind":"ranks"' in (folder / "report.html").read_text().replace(" ", "")[:400000]
    alone = json.loads(strata("report", folder, "--rank", 1, "--json").stdout)
    assert "nap" in json.dumps(alone["cpu"]) and "stragglers" not in alone
    assert "GPU idle" not in strata("report", folder).stdout  # there is none
    wrong = strata("report", folder, "--rank", 5)
    assert wrong.returncode == 2 and "rank 5 has recorded nothing there" in wrong.stderr


def test_workers_are_no_ranks(program):
    """The file of the main process is timing.json, also when a worker is the first to write; workers
    are added up, and nobody is called a straggler."""
    done = program("""
        import multiprocessing, time, strata

        def work(n):
            for _ in range(n):
                with strata.stage("work"):
                    time.sleep(0.01)

        if __name__ == "__main__":
            workers = [multiprocessing.get_context("spawn").Process(target=work, args=(n,))
                       for n in (1, 30)]
            for w in workers: w.start()
            for w in workers: w.join()
            with strata.stage("main"):
                pass
    """)
    assert done.status == 0, done.stderr
    folder = done.folder()
    assert "main" in json.loads((folder / "timing.json").read_text())["stages"]
    shown = json.loads(strata("stages", folder, "--json").stdout)
    assert len(shown["ranks"]) == 1 and shown["workers"] == 2 and shown["straggler"] is None
    assert next(s for s in shown["stages"] if s["name"] == "work")["count"] == 31
    said = strata("stages", folder).stdout
    assert "with 2 worker processes" in said and "straggler" not in said


@pytest.mark.parametrize("variables", [
    ("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")])
def test_ranks_by_environment(tmp_path, variables):
    """Started by a launcher, without strata run, the ranks find each other's folder."""
    script = "import strata\nwith strata.stage('a'): pass\n"
    ranks = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True,
                              env=clean_environment(STRATA_OUT=tmp_path, **dict(zip(variables, (n, 3)))))
             for n in range(3)]
    said = [r.communicate()[1] for r in ranks]
    (folder,) = [p for p in (tmp_path / "python").iterdir() if p.is_dir()]
    assert timing_files(folder) == [f"timing_rank{n}.json" for n in range(3)]
    assert "1 stage, " in said[0] and said[1] == said[2] == ""  # the first rank speaks


def test_a_world_of_one_is_no_rank(program):
    done = program("import strata\nwith strata.stage('a'): pass\n", RANK=0, WORLD_SIZE=1)
    assert timing_files(done.folder()) == ["timing.json"]


ENDLESS = """
    import sys, threading, time, strata

    def work():
        while True:
            with strata.stage("denoise"):
                with strata.stage("step"):
                    pass

    for _ in range(7):
        threading.Thread(target=work, daemon=True).start()
    print("running", flush=True)
    with strata.stage("main"):
        work()
"""


C_PROGRAM = """
#include <strata/strata.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            strata_begin("work");
            if (i == 0) strata_end();
            _exit(0);
        }
    while (wait(NULL) > 0) {}
    return 0;
}
"""


@pytest.fixture
def forks(tmp_path):
    """A C program whose children leave by _exit, one of them in the middle of something."""
    (tmp_path / "forks.c").write_text(C_PROGRAM)
    include = Path(__file__).parent.parent.parent / "include"
    library = os.path.join(BUILD, "src", "record")
    subprocess.run(["cc", "-I", include, tmp_path / "forks.c", "-o", tmp_path / "forks", "-L", library,
                    "-lstrata_record", f"-Wl,-rpath,{library}"], check=True)
    return tmp_path / "forks"


def test_children_that_leave_by_exit(forks, tmp_path):
    """Without exit handlers nobody knows how they ended: only what was cut off tells of a kill."""
    subprocess.run([forks], check=True, env=clean_environment(STRATA="on", STRATA_RUN=tmp_path / "r"))
    done = subprocess.run([PROGRAM, "info", tmp_path / "r", "--json"], check=True, text=True,
                          capture_output=True)
    assert strata("export", tmp_path / "r", "--to", "timing").returncode == 0
    assert sorted(p["ended"] for p in json.loads(done.stdout)["run"]["processes"]) == ["killed", "unknown"]
    kept = [json.loads(p.read_text()) for p in (tmp_path / "r").glob("timing*.json")]
    assert sorted(k["recovered"] for k in kept) == [False, True]


def test_a_full_disk_is_called_one(forks, tmp_path):
    """As far as a limit on the size of files is one."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run([PROGRAM, "run", "-o", tmp_path / "out", "--", forks], text=True,
                          capture_output=True, env=clean_environment(), preexec_fn=limit, check=True)
    assert "nothing can be recorded in" in done.stderr and "File too large" in done.stderr
    assert "marks none" not in done.stderr
    assert not list((tmp_path / "out").glob("*/*"))


@pytest.mark.slow
def test_killed(tmp_path):
    """kill -9 while eight threads record: everything up to then is there, and says where it was."""
    (tmp_path / "endless.py").write_text(textwrap.dedent(ENDLESS))
    victim = subprocess.Popen([sys.executable, str(tmp_path / "endless.py")], text=True,
                              stdout=subprocess.PIPE, env=clean_environment(STRATA_OUT=tmp_path))
    assert victim.stdout.readline() == "running\n"
    time.sleep(0.5)
    victim.kill()
    assert victim.wait() == -signal.SIGKILL
    (folder,) = (p.parent for p in tmp_path.glob("endless/*/rings"))
    made = strata("export", folder, "--to", "timing", "--json")
    assert json.loads(made.stdout)["timing"] == [str(folder / "timing.json")]
    done = strata("info", folder)
    assert done.returncode == 0, done.stderr
    assert "killed" in done.stdout and "open when it ended: " in done.stdout
    open_at_the_end = [line for line in done.stdout.splitlines() if "open when it ended: " in line]
    assert any("main" in line for line in open_at_the_end)  # with or without a stage inside it
    report = json.loads((folder / "timing.json").read_text())
    assert report["recovered"] and report["pid"] == victim.pid and report["lost_records"] == 0
    stages = report["stages"]
    assert stages["main"]["unfinished"] == 1 and stages["main/denoise"]["count"] > 0
    assert stages["denoise"]["count"] > 100
    assert abs(stages["denoise"]["count"] - stages["denoise/step"]["count"]) <= 8
    told = strata("info", folder, "--json")
    (process,) = json.loads(told.stdout)["run"]["processes"]
    assert process["ended"] == "killed" and process["threads"] == 8
    assert "nothing to write" in strata("export", folder, "--to", "timing").stdout
    assert timing_files(folder) == ["timing.json"]  # not made again
    assert strata("stages", folder).returncode == 0
    assert strata("info", "--lint", folder).returncode == 0


SERVER = """
    import asyncio, sys, time, strata, torch

    @strata.stage("handle")
    def handle(x):
        with strata.stage("forward"):
            return x + 1

    @strata.stage("stream")
    def stream(n):
        for i in range(n):
            yield i

    @strata.stage("tokens")
    async def tokens(n):
        for i in range(n):
            await asyncio.sleep(0.005)
            yield i

    async def serve():
        async for _ in tokens(4):
            await asyncio.sleep(0.05)

    strata.set_metadata(model="tiny")
    strata.memory.snapshot("loaded")
    with strata.stage("load"):
        pass
    if "reset" in sys.argv:
        strata.reset(metadata={"model": "tiny"})
    for _ in range(40):
        handle(torch.ones(3))
    list(stream(5))
    if "write" in sys.argv:
        strata.write()
    for i in range(40):
        handle(torch.ones(3) if i else torch.ones(4, 4))
    list(stream(5))
    asyncio.run(serve())
    asyncio.run(serve())
    with strata.stage("late"):
        pass
    print("ready", flush=True)
    time.sleep(100)
"""


@pytest.mark.parametrize("words", [("write",), (), ("write", "reset")])
def test_a_server_is_ended_by_a_signal(tmp_path, words):
    """The totals are those of its end, whatever was written before; what the recordings do not hold
    is there, too."""
    (tmp_path / "server.py").write_text(textwrap.dedent(SERVER))
    server = subprocess.Popen([sys.executable, str(tmp_path / "server.py"), *words], text=True,
                              stdout=subprocess.PIPE, env=clean_environment(STRATA_OUT=tmp_path))
    assert server.stdout.readline() == "ready\n"
    (folder,) = (p.parent for p in tmp_path.glob("server/*/rings"))
    live = strata("stages", folder)
    assert "still running" in live.stdout, live
    assert counts(folder)["handle"] == 80
    server.terminate()
    assert server.wait() == -signal.SIGTERM
    expected = {"handle": 80, "handle/forward": 80, "stream": 2, "tokens": 2, "late": 1}
    if "reset" not in words:
        expected["load"] = 1
    assert counts(folder) == expected
    assert "still running" not in strata("stages", folder).stdout
    assert json.loads((folder / "timing.json").read_text())["running"]
    assert strata("export", folder, "--to", "timing").returncode == 0
    assert counts(folder) == expected
    report = json.loads((folder / "timing.json").read_text())
    assert "running" not in report and report["metadata"] == {"model": "tiny"}
    found = report["stages"]["handle"]
    assert found["count"] == 80 and found["memory"]["rss_peak_bytes"] > 1e6
    assert found["duration_ms"] >= report["stages"]["handle/forward"]["duration_ms"] > 0
    assert 40 <= report["stages"]["tokens"]["duration_ms"] < 350  # nothing of the 400 ms of its user
    assert ("memory" in report) == ("reset" not in words)  # a reset forgets snapshots
    seen = json.loads((folder / "timing_io_signature.json").read_text())["stages"]["handle"]
    shapes = [s["inputs"]["x"]["shape"] for s in seen["signatures"]]
    assert shapes == [[3], [4, 4]]
    assert json.loads((folder / "environment.json").read_text())["packages"]["torch"]


def test_a_call_that_runs_is_not_one_that_never_ended(tmp_path):
    """While the program lives; and what it wrote before its end is not called its end."""
    (tmp_path / "busy.py").write_text(textwrap.dedent("""
        import time, strata
        with strata.stage("load"):
            pass
        with strata.stage("serve"):
            strata.write()
            for _ in range(4):
                with strata.stage("request"):
                    time.sleep(0.1)
            print("ready", flush=True)
            time.sleep(100)
    """))
    server = subprocess.Popen([sys.executable, str(tmp_path / "busy.py")], text=True,
                              stdout=subprocess.PIPE, env=clean_environment(STRATA_OUT=tmp_path))
    assert server.stdout.readline() == "ready\n"
    (folder,) = (p.parent for p in tmp_path.glob("busy/*/rings"))
    live = strata("stages", folder).stdout
    server.kill()
    server.wait()
    assert "1 running" in live and "never ended" not in live
    dead = strata("stages", folder).stdout
    assert "1 never ended" in dead and "running" not in dead
    report = strata("report", folder).stdout
    assert " of which only the stages are known" in report, report


def test_a_server_is_followed(tmp_path):
    """Until it ends, with what it has recorded by then; and for Prometheus."""
    (tmp_path / "busy.py").write_text(textwrap.dedent("""
        import sys, time, strata
        print("ready", flush=True)
        for _ in range(60):
            with strata.stage('a "request"'):
                with strata.stage("forward"):
                    time.sleep(0.05)
    """))
    server = subprocess.Popen([sys.executable, str(tmp_path / "busy.py")], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=clean_environment(STRATA_OUT=tmp_path / "out"))
    assert server.stdout.readline() == "ready\n"
    while not (found := list(tmp_path.glob("out/busy/*/rings"))):
        time.sleep(0.01)
    folder, metrics = found[0].parent, tmp_path / "stages.prom"
    done = strata("stages", folder, "--follow", "--every", "0.3", "--prometheus", metrics)
    assert done.returncode == 0 and server.wait() == 0, done.stderr
    assert done.stdout.count("still running") >= 2
    looks = [int(line.split()[1].replace("-", "0")) for line in done.stdout.splitlines() if "forward" in line]
    assert looks == sorted(looks) and looks[0] < 60 and looks[-1] == 60, done.stdout
    text = metrics.read_text()
    assert 'stage="a \\"request\\"/forward"} 60\n' in text
    values = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(r"# (HELP|TYPE) strata_\w+ .+", line), line
            continue
        sample = re.fullmatch(r'(strata_\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)+)\} (\S+)', line)
        assert sample, line
        values.setdefault(sample[1], []).append(float(sample[3]))
    assert values["strata_process_running"] == [0] and max(values["strata_stage_seconds_total"]) > 3
    assert strata("stages", tmp_path, "--follow").returncode == 2


def counts(folder):
    told = strata("stages", folder, "--json")
    assert told.returncode == 0, told.stderr
    return {s["path"]: s["count"] for s in json.loads(told.stdout)["stages"]}


def test_files_before_the_end_can_be_switched_off(tmp_path):
    (tmp_path / "server.py").write_text(textwrap.dedent(SERVER))
    server = subprocess.Popen([sys.executable, str(tmp_path / "server.py")], text=True,
                              stdout=subprocess.PIPE,
                              env=clean_environment(STRATA_OUT=tmp_path, STRATA_TEST_CHECKPOINT=0))
    assert server.stdout.readline() == "ready\n"
    server.terminate()
    server.wait()
    (folder,) = (p.parent for p in tmp_path.glob("server/*/rings"))
    assert timing_files(folder) == []
    assert strata("export", folder, "--to", "timing").returncode == 0
    assert counts(folder)["handle"] == 80 and counts(folder)["stream"] == 2


def test_killed_under_strata_run(tmp_path):
    (tmp_path / "dies.py").write_text(textwrap.dedent("""
        import os, signal, strata
        for i in range(5):
            with strata.stage("a"):
                if i == 4:
                    os.kill(os.getpid(), signal.SIGKILL)
    """))
    done = strata("run", "-o", tmp_path, "--", sys.executable, tmp_path / "dies.py")
    assert done.returncode == -signal.SIGKILL
    assert "recovered after a kill or crash" in done.stderr
    assert "1 never ended" in done.stderr


def test_thousand_processes(program):
    """Forked and exec'ed children by the hundred: no file is broken."""
    done = program("""
        import os, strata
        with strata.stage("main"):
            for i in range(300):
                pid = os.fork()
                if pid == 0:
                    if i % 2:
                        os.execv("/bin/true", ["true"])
                    with strata.stage("child"):
                        pass
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
    """)
    assert done.status == 0, done.stderr
    told = json.loads(strata("info", done.folder(), "--json").stdout)["run"]
    assert len(told["processes"]) == 151 and told["unreadable_files"] == 0
    assert all(p["lost_records"] == 0 for p in told["processes"])


def test_hosts_that_share_a_folder(tmp_path):
    """Two hosts (told apart by their names in the files) with the same process numbers."""
    script = "import strata\nwith strata.stage('a'): pass\n"
    for n in range(2):
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True,
                       env=clean_environment(STRATA_RUN=tmp_path / "run", RANK=n, WORLD_SIZE=2))
    procs = sorted((tmp_path / "run" / "rings").glob("*.proc"))
    for i, path in enumerate(procs):
        data = bytearray(path.read_bytes())
        data[120:184] = f"node{i}".encode().ljust(64, b"\0")
        data[16:20] = (4242).to_bytes(4, "little")
        path.write_bytes(data)
        for ring in path.parent.glob(path.stem + ".*.ring"):
            data = bytearray(ring.read_bytes())
            data[20:24] = (4242).to_bytes(4, "little")
            ring.write_bytes(data)
    told = json.loads(strata("info", tmp_path / "run", "--json").stdout)
    assert {p["host"] for p in told["run"]["processes"]} == {"node0", "node1"}
    assert told["events"] == 2
