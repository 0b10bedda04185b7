"""Whatever is wrong with strata, its files or its settings: the program runs as if it were not
there. Every script here ends by printing that it got there."""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import PACKAGE, clean_environment

SCRIPT = """
    import strata

    @strata.stage("work")
    def work(x):
        with strata.stage("inner"):
            return x * 2

    assert [work(i) for i in range(3)] == [0, 2, 4]
    print("done")
"""


def check(done, *words):
    assert done.status == 0, done.stderr
    assert done.stdout == "done\n"
    for word in words:
        assert word in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_unwritable_folder(program):
    check(program(SCRIPT, STRATA_OUT="/proc/nothing"), "strata: cannot write any files", "2 stages")


def test_folder_is_a_file(program, tmp_path):
    (tmp_path / "file").write_text("mine")
    check(program(SCRIPT, STRATA_OUT=tmp_path / "file"), "cannot write any files")
    assert (tmp_path / "file").read_text() == "mine"


def test_no_room_for_files(program):
    """The file size limit stands in for a full disk: both refuse to let files grow."""
    limit = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    """
    check(program(limit.rstrip(" ") + SCRIPT), "strata: cannot write any files")


def test_disk_full(program, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(full)],
                             capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("needs to mount a small file system")
    try:
        check(program("""
            import strata
            for i in range(100000):
                with strata.stage("many"):
                    pass
            print("done")
        """, STRATA_OUT=full))
    finally:
        subprocess.run(["umount", str(full)], check=True)


def test_folder_removed_meanwhile(program):
    check(program("""
        import shutil, strata
        with strata.stage("a"):
            shutil.rmtree(strata.run_dir())
        for i in range(20000):
            with strata.stage("b"):
                pass
        print("done")
    """))


def test_working_folder_removed(program, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    check(program("""
        import os, shutil
        os.rmdir(os.getcwd())
        import strata
        with strata.stage("a"):
            pass
        print("done")
    """, cwd=gone, STRATA_OUT=None))


@pytest.fixture
def broken_package(tmp_path):
    """A copy of the package to break."""
    copy = tmp_path / "packages"
    shutil.copytree(os.path.join(PACKAGE, "strata"), copy / "strata",
                    ignore=shutil.ignore_patterns("*.p", "__pycache__"))
    return copy


def test_no_extension(program, broken_package):
    (broken_package / "strata" / "_strata.abi3.so").unlink()
    done = program(SCRIPT, PYTHONPATH=broken_package)
    check(done, "strata: off: cannot load its extension")
    assert not done.out.exists()


def test_half_written_extension(program, broken_package):
    library = broken_package / "strata" / "_strata.abi3.so"
    library.write_bytes(library.read_bytes()[:20000])
    check(program(SCRIPT, PYTHONPATH=broken_package), "strata: off")


def test_extension_of_another_version(program, broken_package):
    version = broken_package / "strata" / "_base" / "version.py"
    version.write_text(version.read_text().replace("INTERFACE = ", "INTERFACE = 9"))
    check(program(SCRIPT, PYTHONPATH=broken_package), "expected 96")


@pytest.mark.parametrize("name", ["_record/hooks.py", "_report/timing.py", "_pipeline/annotate.py",
                                  "memory.py"])
def test_half_written_package(program, broken_package, name):
    path = broken_package / "strata" / name
    path.write_text(path.read_text()[: len(path.read_text()) // 2] + "\n(")
    check(program(SCRIPT, PYTHONPATH=broken_package), "strata: off")


def test_settings_that_make_no_sense(program):
    done = program(SCRIPT, STRATA="perhaps", STRATA_RING_MB="lots", STRATA_STEPS="-3",
                   STRATA_SKIP="none", STRATA_TEST_CLOCK="sundial", STRATA_TEST_SIGNATURES="sometimes",
                   STRATA_ONLY=",,", STRATA_TEST_GPU="42", STRATA_LAUNCH="/../x\n", RANK="two",
                   WORLD_SIZE="many", SLURM_PROCID="-1")
    check(done, "STRATA='perhaps' is neither on nor off", "STRATA_STEPS='-3'", "2 stages")


def test_output_that_cannot_be_written_to(program):
    done = program("""
        import strata, sys
        with strata.stage("a"):
            pass
        print("done", flush=True)
        sys.stderr.close()
    """)
    assert (done.status, done.stdout) == (0, "done\n")
    assert list(done.json()["stages"]) == ["a"]
    done = program("""
        import sys
        sys.stderr = sys.stdout = None
        import strata
        with strata.stage("a"):
            pass
    """)
    assert done.status == 0


def test_exit_in_the_middle_of_a_stage(program):
    done = program("""
        import strata, sys
        with strata.stage("outer"):
            with strata.stage("inner"):
                print("done")
                sys.exit(3)
    """)
    assert (done.status, done.stdout) == (3, "done\n")
    assert done.json()["stages"]["outer"]["errors"] == 1


def test_an_error_nobody_catches(program):
    done = program("""
        import strata
        with strata.stage("a"):
            raise RuntimeError("the program's own")
    """)
    assert done.status == 1
    assert "RuntimeError: the program's own" in done.stderr
    assert done.json()["stages"]["a"]["errors"] == 1


def test_ctrl_c(program):
    done = program("""
        import os, signal, strata
        try:
            with strata.stage("a"):
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(10**6): pass
        except KeyboardInterrupt:
            print("done")
    """)
    check(done)


def test_threads_that_still_run_at_exit(program):
    check(program("""
        import threading, time, strata

        def forever():
            while True:
                with strata.stage("background"):
                    time.sleep(0.0001)

        for _ in range(4):
            threading.Thread(target=forever, daemon=True).start()
        with strata.stage("main"):
            time.sleep(0.05)
        print("done")
    """))


def test_stages_in_destructors_and_exit_handlers(program):
    check(program("""
        import atexit, strata

        class Closer:
            def __del__(self):
                with strata.stage("closing"):
                    pass

        @atexit.register
        def late():
            with strata.stage("late"):
                pass
            print("done")

        keep = Closer()
        with strata.stage("a"):
            pass
    """))


def test_leaving_without_a_word(program):
    done = program("""
        import os, strata
        with strata.stage("a"):
            print("done", flush=True)
            os._exit(4)
    """)
    assert (done.status, done.stdout, done.stderr) == (4, "done\n", "")


def test_two_interpreters_of_one_name(program, tmp_path):
    """A module of the user's called like one of ours is not ours."""
    (tmp_path / "memory.py").write_text("raise SystemExit('imported by mistake')")
    (tmp_path / "settings.py").write_text("raise SystemExit('imported by mistake')")
    check(program(SCRIPT))


def test_torch_that_is_broken(program, tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("cuda = None\n")
    check(program(SCRIPT.replace("import strata", "import torch, strata", 1)))


def test_few_descriptors(program):
    check(program("""
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        import os, strata
        with strata.stage("before"):
            pass
        held = []
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        for i in range(10000):
            with strata.stage("work"):
                pass
        for fd in held:
            os.close(fd)
        print("done")
    """))


def test_little_memory():
    """An address space too small for everything: Python may give up, but not by a crash."""
    script = """
import resource, sys
import strata
resource.setrlimit(resource.RLIMIT_AS, (400 << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    for i in range(30000):
        with strata.stage(f"name {i}" * 20):
            pass
except MemoryError:
    pass
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=False, env=clean_environment(STRATA_TEST_RINGS="off"))
    assert done.stdout == "done\n" and done.returncode == 0, done.stderr


def test_a_program_without_stderr(program):
    """What strata says is lost then; it does not get into the program's output."""
    done = program("""
        import sys, strata
        with strata.stage("a"):
            pass
        sys.stderr = None
        strata._base.settings.say("something")
        print("result")
    """)
    assert done.status == 0 and done.stdout == "result\n"
    assert done.json()["stages"]["a"]["count"] == 1


def test_names_that_are_cut_inside_a_character(program):
    done = program("""
        import strata
        with strata.stage("a" + "\u00e9" * 700):
            pass
        with strata.stage("\U0001f600" * 300):
            pass
        with strata.stage("good"):
            pass
    """)
    names = sorted(s["name"] for s in done.json()["stages"].values())
    assert names == ["a" + "\u00e9" * 511, "good", "\U0001f600" * 256], done.stderr


ODD_NAMES = """
    import strata
    for name in ("\\ud800", "a\\0b", None, 5, b"bytes", "x" * 5000):
        strata.instant(name)
        for value in (1, None, "text", 1e400, 10**400):
            strata.counter(name, value)
    with strata.stage("a"):
        pass
    print("done")
"""


@pytest.mark.parametrize("switch", ["on", "off"])
def test_odd_names_raise_nothing(program, switch):
    done = program(ODD_NAMES, STRATA=switch)
    assert done.status == 0 and done.stdout == "done\n", done.stderr


def test_a_working_directory_that_is_gone(program):
    done = program("""
        import os, tempfile, strata
        with strata.stage("a"):
            pass
        gone = tempfile.mkdtemp()
        os.chdir(gone)
        os.rmdir(gone)
    """)
    assert done.status == 0 and "no report" not in done.stderr
    assert "1 stage, " in done.stderr and str(done.folder()) in done.stderr


def test_starting_in_a_directory_that_is_gone(program, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = program("""
        import os, subprocess, sys
        os.rmdir(os.getcwd())
        text = "import strata\\nwith strata.stage('a'): pass\\nprint('done')"
        sys.exit(subprocess.run([sys.executable, "-c", text]).returncode)
    """, cwd=gone)
    assert done.status == 0 and done.stdout == "done\n", done.stderr
    assert done.json()["stages"]["a"]["count"] == 1


# Two greenlets that take turns inside their stages, as far as strata can see: a greenlet has a parent
# and a context of its own.
TURNS = """
    import contextvars, sys, types
    fake = types.ModuleType("greenlet")
    main = types.SimpleNamespace(parent=None)
    fake.now = main
    fake.getcurrent = lambda: fake.now
    sys.modules["greenlet"] = fake

    import strata

    class Green:
        parent = main

        def __init__(self):
            self.context = contextvars.Context()

        def run(self, fn, *args):
            fake.now = self
            try:
                return self.context.run(fn, *args)
            finally:
                fake.now = main

    def enter(name):
        strata.stage(name).__enter__()

    def leave(name):
        strata.stage(name).__exit__(None, None, None)

    with strata.stage("serve"):
        a, b = Green(), Green()
        a.run(enter, "one")
        b.run(enter, "two")
        a.run(enter, "in one")
        b.run(enter, "in two")
        a.run(leave, "in one")
        a.run(leave, "one")
        b.run(leave, "in two")
        b.run(leave, "two")
"""


def test_greenlets_have_stages_of_their_own(program):
    found = program(TURNS).json()["stages"]
    assert set(found) == {"serve", "serve/one", "serve/one/in one", "serve/two", "serve/two/in two"}


def test_real_greenlets(program):
    pytest.importorskip("greenlet")
    found = program("""
        import greenlet, strata
        main = greenlet.getcurrent()

        def work(name):
            for _ in range(3):
                with strata.stage(name):
                    main.switch()
                    with strata.stage("in"):
                        main.switch()

        waiting = [greenlet.greenlet(work) for _ in range(2)]
        for name, g in zip("ab", waiting):
            g.switch(name)
        while waiting:
            for g in list(waiting):
                g.switch()
                if g.dead:
                    waiting.remove(g)
    """).json()["stages"]
    assert {k: v["count"] for k, v in found.items()} == {"a": 3, "a/in": 3, "b": 3, "b/in": 3}


def test_an_old_python_keeps_its_sitecustomize(tmp_path):
    """As far as this Python can act as one that knows nothing of importlib."""
    if sys.version_info >= (3, 12):
        pytest.skip("it has no imp, which an old one would use")
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own')\n")
    inject = os.path.join(PACKAGE, "strata", "_inject")
    text = ("import sys, warnings; warnings.simplefilter('ignore'); import imp\n"
            "sys.modules['importlib.machinery'] = None; sys.version_info = (2, 7)\n"
            f"sys.path[:0] = [{inject!r}, {str(own)!r}]\n"
            "import sitecustomize\n"
            f"assert {inject!r} not in sys.path and len(sys.meta_path) < 5\n")
    done = subprocess.run([sys.executable, "-S", "-c", text], capture_output=True, text=True,
                          check=False)
    assert (done.stdout, done.returncode) == ("own\n", 0), done.stderr
