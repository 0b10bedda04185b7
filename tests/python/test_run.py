"""strata run: the program notices nothing but its environment, and whoever started it notices
nothing but the table."""
import gzip
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

import pythons
from conftest import BUILD, PROGRAM, clean_environment


def run(tmp_path, *args, options=(), text=None, name="prog.py", **env):
    command = list(map(str, args))
    if text is not None:
        (tmp_path / name).write_text(textwrap.dedent(text))
        command = [sys.executable, str(tmp_path / name), *command]
    env.setdefault("PYTHONPATH", "")
    return subprocess.run([PROGRAM, "run", "-o", str(tmp_path / "out"), *options, "--", *command],
                          capture_output=True, text=True, check=False, timeout=600, cwd=tmp_path,
                          env=clean_environment(**env))


def folder(tmp_path):
    (found,) = (p.parent for p in (tmp_path / "out").glob("*/*/rings"))
    return found


STAGES = """
    import sys, strata
    for i in range(3):
        with strata.stage("work"):
            pass
    print("to stdout")
    print("to stderr", file=sys.stderr)
    sys.exit(int(sys.argv[1]) if sys.argv[1:] else 0)
"""


def test_the_package_is_found_without_installing_it(tmp_path):
    done = run(tmp_path, text=STAGES)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "to stdout\n"
    assert "to stderr" in done.stderr and "work" in done.stderr
    assert done.stderr.count("calls") == 1  # one table, ours
    assert folder(tmp_path).parent.name == "prog"
    assert "next: strata report out/prog/" in done.stderr


def test_a_trace_for_perfetto(tmp_path):
    run(tmp_path, text="""
        import strata
        with strata.stage("outer"):
            for i in range(3):
                with strata.stage("inner"):
                    strata.counter("depth", i)
    """)
    with gzip.open(folder(tmp_path) / "trace.json.gz") as f:
        events = json.load(f)["traceEvents"]
    names = [e["name"] for e in events if e["ph"] == "X"]
    assert names == ["outer"] + ["inner"] * 3
    values = [v for e in events if e["ph"] == "C" for v in e["args"].values()]
    assert values == [0, 1, 2]
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {"prog"}


def test_reports_are_written(tmp_path):
    run(tmp_path, text=STAGES)
    assert "| work |" in (folder(tmp_path) / "report.md").read_text()
    page = (folder(tmp_path) / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and '"path":"work"' in page
    assert f'"title":"prog {folder(tmp_path).name}"' in page


@pytest.mark.parametrize("name", ["trace.json.gz", "report.md", "report.html"])
def test_files_of_the_programs_own_are_kept(tmp_path, name):
    run(tmp_path, text=f"""
        import os, strata
        with strata.stage("a"):
            open(os.path.join(strata.run_dir(), "{name}"), "w").write("mine")
    """)
    assert (folder(tmp_path) / name).read_text() == "mine"


def test_only_the_package_is_shown_to_the_program(tmp_path):
    """What lies beside it may belong to another Python."""
    beside = os.path.join(BUILD, "python", "beside_strata.py")
    with open(beside, "w", encoding="utf-8") as f:
        f.write("raise SystemExit('imported')\n")
    try:
        done = run(tmp_path, text="""
            try:
                import beside_strata
            except ImportError:
                import strata
                print(strata.enabled)
        """)
    finally:
        os.unlink(beside)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_exit_status(tmp_path, status):
    assert run(tmp_path, status, text=STAGES).returncode == status


def test_a_folder_that_cannot_be_made(tmp_path):
    """The program comes first, and the reason is the true one."""
    (tmp_path / "file").write_text("")
    places = (("/proc/nowhere", "", 7), (str(tmp_path / "file" / "out"), "Not a directory", 0))
    for place, why, status in places:
        done = subprocess.run([PROGRAM, "run", "-o", place, "--", "sh", "-c", f"echo it ran; exit {status}"],
                              cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              env=clean_environment())
        assert done.returncode == status and done.stdout == "it ran\n"
        assert "nothing is recorded" in done.stderr and why in done.stderr


def test_another_folder_in_the_place_of_the_run(tmp_path):
    """Whoever owns the place of runs can put a link there: files where it leads are not written over."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "timing.json").write_text("precious")
    done = run(tmp_path, str(precious), text="""
        import os, sys, strata
        with strata.stage("work"):
            pass
        strata.write()  # its files are claimed
        run = os.environ["STRATA_RUN"]
        os.rename(run, run + "-moved")
        os.symlink(sys.argv[1], run)
    """)
    assert done.returncode == 0
    assert [f.name for f in precious.iterdir()] == ["timing.json"]
    assert (precious / "timing.json").read_text() == "precious"
    assert "another folder took the place of" in done.stderr


def test_death_by_signal(tmp_path):
    done = run(tmp_path, "sh", "-c", "kill -TERM $$")
    assert done.returncode == -signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_signals_are_passed_on(tmp_path, number):
    (tmp_path / "prog.py").write_text(textwrap.dedent("""
        import signal, sys, time, strata

        def handler(number, frame):
            with strata.stage("cleaning up"):
                print("got", number, flush=True)
            sys.exit(5)

        for n in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP):
            signal.signal(n, handler)
        print("ready", flush=True)
        time.sleep(60)
    """))
    started = subprocess.Popen([PROGRAM, "run", "-o", str(tmp_path / "out"), "--", sys.executable,
                                str(tmp_path / "prog.py")], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE, env=clean_environment(PYTHONPATH=""))
    assert started.stdout.readline() == "ready\n"
    started.send_signal(number)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 5
    assert out == f"got {int(number)}\n"
    assert "cleaning up" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_analysis(tmp_path, number):
    """The program has ended, and reading its trace of millions of events takes a while."""
    program = ("import gzip, os, strata\nwith strata.stage('work'): pass\n"
               "chunk = ''.join(',{\"ph\":\"X\",\"name\":\"x\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":1}'"
               " % (i % 50, i) for i in range(10000))\n"
               "with gzip.open(os.environ['STRATA_RUN'] + '/torch_trace.json.gz', 'wt', 1) as f:\n"
               "    f.write('{\"traceEvents\":[{}' + chunk * 300 + ']}')\n"
               "print('done', flush=True)\n")
    (tmp_path / "prog.py").write_text(program)
    started = subprocess.Popen([PROGRAM, "run", "-o", "out", "--", sys.executable, "prog.py"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                               env=clean_environment(PYTHONPATH=""))
    assert started.stdout.readline() == "done\n"
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    while children.read_text().strip():
        time.sleep(0.02)
    for _ in range(100):
        started.send_signal(number)
        try:
            started.wait(timeout=0.1)
            break
        except subprocess.TimeoutExpired:
            pass
    alive = started.poll() is None
    if alive:
        started.kill()
    err = started.stderr.read()
    assert not alive and started.returncode == -number
    [run_folder] = (tmp_path / "out" / "prog").iterdir()
    assert f"strata report out/prog/{run_folder.name}" in err
    assert list((run_folder / "rings").iterdir())


def test_ctrl_c_on_a_terminal_arrives_once(tmp_path):
    """A terminal sends it to the whole group: passing it on would make it two."""
    (tmp_path / "prog.py").write_text(textwrap.dedent("""
        import signal, time
        n = 0

        def handler(number, frame):
            global n
            n += 1

        signal.signal(signal.SIGINT, handler)
        print("ready", flush=True)
        end = time.time() + 60
        while not n and time.time() < end:
            time.sleep(0.01)
        time.sleep(0.5)  # a second one would come right after it
        print("interrupted", n)
    """))
    import pty
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, [PROGRAM, "run", "-o", str(tmp_path / "out"), "--", sys.executable,
                            str(tmp_path / "prog.py")], clean_environment(PYTHONPATH=""))
    said = b""
    while b"ready" not in said:
        said += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    try:
        while True:
            more = os.read(terminal, 1000)
            if not more:
                break
            said += more
    except OSError:
        pass
    os.waitpid(pid, 0)
    assert b"interrupted 1\r\n" in said, said


def test_no_stages(tmp_path):
    done = run(tmp_path, "true")
    assert done.returncode == 0
    assert "no stages were recorded" in done.stderr
    assert not list((tmp_path / "out").glob("*/*"))


def test_nothing_in_a_timeline(tmp_path):
    """It is not recommended again, and no empty folder remains."""
    done = run(tmp_path, text="print(1)", options=["--level", "timeline"])
    assert done.returncode == 0 and done.stdout == "1\n"
    assert "no stages were recorded" in done.stderr and "that import torch" in done.stderr
    assert "--level timeline" not in done.stderr
    assert not list((tmp_path / "out").glob("*/*"))


@pytest.mark.parametrize("end, said", [
    ("exit 1", "ended with exit status 1\n"),
    ("exit 127", "ended with exit status 127; a command or a shared library was not found\n"),
    ("kill -9 $$", "until signal 9 (Killed) ended the program\n")])
def test_a_program_that_fails_before_it_is_recorded(end, said, tmp_path):
    done = run(tmp_path, "sh", "-c", end)
    assert done.returncode != 0
    assert "nothing was recorded until" in done.stderr and said in done.stderr
    assert "marks none" not in done.stderr


def test_no_such_program(tmp_path):
    done = run(tmp_path, "no-such-program")
    assert done.returncode == 2
    assert "cannot run no-such-program: No such file" in done.stderr
    assert not list((tmp_path / "out").glob("*/*"))


def test_usage(tmp_path):
    assert subprocess.run([PROGRAM, "run"], capture_output=True, check=False).returncode == 2
    assert run(tmp_path, "true", options=["--steps", "none"]).returncode == 2
    assert run(tmp_path, "true", options=["--level", "everything"]).returncode == 2


def test_json(tmp_path):
    done = run(tmp_path, text=STAGES, options=["--json"])
    shown = json.loads(done.stdout)  # the program's own output went to stderr
    assert shown["stages"][0]["name"] == "work" and shown["stages"][0]["count"] == 3
    assert "to stdout" in done.stderr


def test_the_programs_own_sitecustomize_is_loaded(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import sys\nsys.flagged = __file__\nX = 1\n")
    done = run(tmp_path, text="""
        import os, sys, sitecustomize
        assert sys.flagged == sitecustomize.__file__ and sitecustomize.X == 1
        assert not any("_inject" in p for p in sys.path), sys.path
        assert os.path.basename(sys.path[1]) == "site", sys.path
        print("done")
    """, PYTHONPATH=site)
    assert done.stdout == "done\n", done.stderr


def test_a_sitecustomize_that_fails_fails_as_before(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("raise ValueError('mine')\n")
    (tmp_path / "prog.py").write_text("print('done')\n")
    plain = subprocess.run([sys.executable, str(tmp_path / "prog.py")], capture_output=True, text=True,
                           check=False, env=clean_environment(PYTHONPATH=site))
    done = run(tmp_path, sys.executable, tmp_path / "prog.py", PYTHONPATH=site)
    assert done.stdout == plain.stdout == "done\n"
    assert "ValueError: mine" in done.stderr


def test_programs_that_do_not_use_it_do_not_load_it(tmp_path):
    done = run(tmp_path, text="""
        import sys
        print([m for m in sys.modules if m.startswith("strata")])
    """)
    assert done.stdout == "[]\n"


def test_python_that_ignores_its_environment(tmp_path):
    (tmp_path / "prog.py").write_text("print('done')\n")
    done = run(tmp_path, sys.executable, "-I", tmp_path / "prog.py")
    assert (done.returncode, done.stdout) == (0, "done\n")


def test_an_installed_package_wins(tmp_path):
    other = tmp_path / "site" / "strata"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("WHO = 'installed'\n")
    done = run(tmp_path, text="import strata; print(strata.WHO)", PYTHONPATH=tmp_path / "site")
    assert done.stdout == "installed\n"


@pythons.every()
def test_every_python_version(python, tmp_path):
    """The extension is the same for all of them."""
    (tmp_path / "prog.py").write_text(textwrap.dedent(STAGES))
    done = run(tmp_path, python, tmp_path / "prog.py", options=["--pipeline", "p"])
    assert done.returncode == 0 and "work" in done.stderr, done.stderr


C_PROGRAM = """
    #include <strata/strata.h>
    int main(void)
    {
        for (int i = 0; i < 5; i++) {
            STRATA_SCOPE("decode");
            strata_begin("entropy");
            strata_end();
        }
        return 3;
    }
"""


def test_a_program_in_c(tmp_path):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")
    (tmp_path / "decoder.c").write_text(textwrap.dedent(C_PROGRAM))
    subprocess.run(["cc", "-I", source, "-o", "decoder", "decoder.c", "-L", f"{BUILD}/src/record",
                    "-lstrata_record", f"-Wl,-rpath,{BUILD}/src/record"], cwd=tmp_path, check=True)
    done = run(tmp_path, "./decoder")
    assert done.returncode == 3
    stages = json.loads((folder(tmp_path) / "timing.json").read_text())["stages"]
    assert {p: s["count"] for p, s in stages.items()} == {"decode": 5, "decode/entropy": 5}
    assert "entropy" in done.stderr
    quiet = subprocess.run(["./decoder"], cwd=tmp_path, capture_output=True, check=False,
                           env=clean_environment(STRATA_OUT=tmp_path / "none"))
    assert quiet.returncode == 3 and not (tmp_path / "none").exists()


def test_runs_compare(tmp_path):
    for pause in ("0.002", "0.006"):
        done = run(tmp_path, pause, text="""
            import sys, time, strata
            for i in range(30):
                with strata.stage("changed"):
                    time.sleep(float(sys.argv[1]))
            with strata.stage("once"):
                pass
            if sys.argv[1] == "0.006":
                with strata.stage("new"):
                    pass
        """)
        assert done.returncode == 0, done.stderr
    before, after = sorted(p.parent for p in (tmp_path / "out").glob("*/*/rings"))
    done = subprocess.run([PROGRAM, "diff", "--stages", before / "timing.json", after], text=True,
                          capture_output=True, check=True)
    assert "too few for a verdict" in done.stdout

    def verdicts(*words):
        done = subprocess.run([PROGRAM, "diff", "--stages", *words, "--json"], text=True, capture_output=True,
                              check=True)
        return {s["name"]: s["verdict"] for s in json.loads(done.stdout)["stages"]}

    assert verdicts(before, after) == {"changed": "unknown", "once": "unknown", "new": "one_side"}
    olds, news = ([folder, *(shutil.copytree(folder, tmp_path / f"{folder.name}_{n}") for n in (1, 2))]
                  for folder in (before, after))
    assert verdicts(*olds, "vs", *news)["changed"] == "slower"
    assert verdicts(*olds, "vs", *olds)["changed"] == "no_difference"
    bad = subprocess.run([PROGRAM, "diff", "--stages", before, tmp_path / "prog.py"], text=True,
                         capture_output=True, check=False)
    assert bad.returncode == 3 and "byte 1" in bad.stderr
