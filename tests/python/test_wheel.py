"""`pip install .`: a wheel for every Python since 3.10 with the program, the package and the
libraries it makes programs load; and editable installations. Built without optimizing, once."""
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("mesonpy")
pytestmark = pytest.mark.slow  # builds everything again

TOP = Path(__file__).parents[2]
PROGRAM = """
import strata, strata._base.command
with strata.stage("work"):
    print(strata.__version__, strata._base.command.program())
"""


def environment():
    """Build tools of the environment of these tests, and nothing of the build that is tested."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("STRATA", "PYTHON"))}
    return env | {"PATH": os.path.dirname(sys.executable) + os.pathsep + env["PATH"]}


def run(*command, cwd=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=900,
                          env=environment(), cwd=cwd, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def pip(*options, python=None):
    where = ["--python", python] if python else []
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", *where, *options)


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """One build folder for all."""
    folder = tmp_path_factory.mktemp("wheel") / "build"
    return ["--no-build-isolation", "--no-deps", f"--config-settings=build-dir={folder}",
            "--config-settings=setup-args=-Doptimization=0"]


@pytest.fixture(scope="module")
def wheel(settings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    pip("wheel", "-w", folder, *settings, TOP)
    (found,) = folder.iterdir()
    return found


@pytest.fixture
def configure(tmp_path):
    """configure(option...): what `meson setup` says on a machine that has neither esbuild nor headers
    that pkg-config would find, and may fetch nothing."""
    sources, tools = tmp_path / "sources", tmp_path / "bin"
    for name in ("viewer", "subprojects/packagefiles"):
        shutil.copytree(TOP / name, sources / name)
    for path in (*TOP.glob("subprojects/*.wrap"), *TOP.glob("meson*")):
        shutil.copy(path, sources / path.relative_to(TOP))
    for folder in (tools, sources / "include", sources / "src"):
        folder.mkdir()
    for folder in reversed(environment()["PATH"].split(os.pathsep)):
        for tool in Path(folder).glob("*") if os.path.isdir(folder) else ():
            if tool.name not in ("esbuild", "cmake"):
                (tools / tool.name).unlink(missing_ok=True)
                (tools / tool.name).symlink_to(tool)

    def setup(*options, **env):
        done = subprocess.run(["meson", "setup", sources, tmp_path / "build", "-Dwheel=true",
                               "--wrap-mode=nodownload", *options], capture_output=True, text=True,
                              timeout=300, env=environment() | {"PATH": str(tools)} | env)
        assert done.returncode != 0
        return done.stdout

    return setup


def test_without_headers_the_package_is_named(configure):
    said = configure("-Dwheel=false", PKG_CONFIG_LIBDIR="/nonexistent")
    assert "ERROR" in said and "libzstd is missing" in said and "libzstd-dev" in said


def test_without_esbuild_the_page_is_not_left_out_silently(configure):
    said = configure()
    assert "ERROR" in said and "Please install esbuild" in said and "-Dviewer=false" in said


def make_venv(path):
    run(sys.executable, "-m", "venv", "--without-pip", path)
    return path / "bin" / "python"


def check_installation(folder, python):
    """The package and the command find each other, with and without `strata run`."""
    (folder / "prog.py").write_text(PROGRAM)
    command = python.parent / "strata"
    version = run(command, "--version").stdout.split()[-1]
    assert run(python, "prog.py", cwd=folder).stdout == f"{version} {command}\n"
    done = run(command, "run", "--json", "--", python, "prog.py", cwd=folder)
    assert json.loads(done.stdout)["stages"][0]["name"] == "work"
    return command


def test_what_is_in_it(wheel):
    assert wheel.name.endswith(f"-cp310-abi3-linux_{os.uname().machine}.whl")
    names = zipfile.ZipFile(wheel).namelist()
    ours = {str(p.relative_to(TOP / "python")) for ending in ("py", "sql")
            for p in TOP.glob(f"python/strata/**/*.{ending}")}
    assert ours | {"strata/_base/version.py"} <= set(names)
    assert "strata/_strata.abi3.so" in names
    assert any(n.endswith(".data/scripts/strata") for n in names)
    assert "strata/libstrata_inject.so" in names
    assert any(n.endswith("licenses/THIRD-PARTY.txt") for n in names)


def test_what_it_needs(wheel, tmp_path):
    """Nothing but libc where the libraries can be linked in, and the page is inside."""
    with zipfile.ZipFile(wheel) as archive:
        (program,) = (n for n in archive.namelist() if n.endswith(".data/scripts/strata"))
        command = Path(archive.extract(program, tmp_path))
    command.chmod(0o755)
    needed = run("readelf", "-d", command).stdout
    assert not any(f"[{library}.so" in needed
                   for library in ("libz", "libzstd", "libsqlite3", "libisal"))
    page = tmp_path / "page.html"
    run(command, "report", TOP / "tests" / "data" / "tiny.json", "--html", page)
    assert "<script" in page.read_text()


def test_in_a_virtual_environment(wheel, tmp_path):
    python = make_venv(tmp_path / "venv")
    pip("install", "--no-deps", wheel, python=python)
    check_installation(tmp_path, python)
    pip("uninstall", "-y", "strata-profiler", python=python)
    assert not (python.parent / "strata").exists()


def test_with_other_pythons(wheel, tmp_path):
    """One wheel for all of them."""
    others = [p for p in map(shutil.which, (f"python3.{v}" for v in (10, 12, 13, 14))) if p]
    working = [p for p in others if subprocess.run([p, "-c", "1"], capture_output=True,
                                                   check=False).returncode == 0]
    if not working:
        pytest.skip("no other Python here")
    for i, other in enumerate(working):
        run(other, "-m", "venv", "--without-pip", tmp_path / f"venv{i}")
        python = tmp_path / f"venv{i}" / "bin" / "python"
        pip("install", "--no-deps", wheel, python=python)
        check_installation(tmp_path, python)


def test_editable(settings, tmp_path):
    python = make_venv(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "tools.pth").write_text(sysconfig.get_path("purelib"))  # meson-python
    pip("install", *settings, "-e", TOP, python=python)
    check_installation(tmp_path, python)
    found = run(python, "-c", "import strata.mock; print(strata.mock.__file__)").stdout.strip()
    assert Path(found) == TOP / "python" / "strata" / "mock.py"
