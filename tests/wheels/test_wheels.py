"""The wheels that are published: both are built, need nothing but glibc, and run wherever they are
put. The one for 64-bit ARM runs under qemu: the unit tests of what differs there (the vector
instructions of the scanners, the clock), whole commands, and the page."""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
WHEELS = TOP / "build-wheels"
NATIVE = Path(os.environ["STRATA_BUILD"]) / "src" / "strata"
TRACE = TOP / "tests/data/flux2/flux2_before_compile.json.gz"
CPUS = ("x86_64", "aarch64")
QEMU = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]
GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
         "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
UNITS = ("blocks", "cpu", "event_fast", "json", "record", "ring", "to_chrome", "xxh64")
GOLDENS = ("report", "page", "stages", "steps", "table")


def run(*command, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("STRATA", "PYTHON"))}
    env |= more.pop("env", {})
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1500,
                          env=env, check=False, **more)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


@pytest.fixture(scope="session")
def said():
    """What `make wheels` says."""
    return run(sys.executable, TOP / "tools" / "wheels.py", WHEELS)


@pytest.fixture(scope="session")
def wheels(said):
    return {cpu: next((WHEELS / "dist").glob(f"*_{cpu}.whl")) for cpu in CPUS}


def unpack(wheel, folder):
    """As `unzip` does, and returns the program."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    (program,) = folder.glob("*.data/scripts/strata")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("cpu", CPUS)
def test_auditwheel_finds_the_oldest_glibc(said, cpu):
    assert f'is consistent with the following platform tag: "manylinux_2_17_{cpu}"' in said


@pytest.mark.parametrize("cpu", CPUS)
def test_needs_nothing_but_glibc(wheels, cpu, tmp_path):
    unpack(wheels[cpu], tmp_path)
    binaries = [p for p in tmp_path.rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
    assert {p.name for p in binaries} == {"strata", "_strata.abi3.so", "libstrata_inject.so"}
    for path in binaries:
        header = run("readelf", "-hd", path)
        assert {"x86_64": "X86-64", "aarch64": "AArch64"}[cpu] in header
        assert set(re.findall(r"NEEDED.*\[(.*)\]", header)) <= GLIBC
        assert not re.search(r"R(UN)?PATH", header)


@pytest.mark.parametrize("cpu", CPUS)
def test_brings_the_licences_of_what_is_linked_in(wheels, cpu):
    names = zipfile.ZipFile(wheels[cpu]).namelist()
    assert any(n.endswith("licenses/LICENSE") for n in names)
    assert any(n.endswith("licenses/THIRD-PARTY.txt") for n in names)


def library(program, **env):
    """Whether the program finds the recording library, and which."""
    checks = json.loads(run(program, "doctor", "--json", env=env))["checks"]
    (found,) = (c for c in checks if c["id"] == "library")
    return found["state"], found["found"]


def test_finds_its_libraries_where_they_were_put(wheels, tmp_path):
    """After `pip install --target`, in an unpacked wheel, through a link, in a folder that was moved,
    and the program by itself beside an environment on PATH."""
    target = tmp_path / "a folder"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps",
           "--no-index", "--quiet"]
    run(*pip, "--target", target, wheels["x86_64"])
    assert library(target / "bin/strata") == ("ok", str(target / "strata/libstrata_inject.so"))
    found = run(sys.executable, "-c", "import strata._base.command as c; print(c.program())",
                env={"PYTHONPATH": str(target)}).strip()
    assert found == str(target / "bin/strata")

    moved = tmp_path / "moved"
    target.rename(moved)
    (tmp_path / "link").symlink_to(moved / "bin/strata")
    assert library(tmp_path / "link") == ("ok", str(moved / "strata/libstrata_inject.so"))

    program = unpack(wheels["x86_64"], tmp_path / "unpacked")
    assert library(program) == ("ok", str(tmp_path / "unpacked/strata/libstrata_inject.so"))
    found = run(sys.executable, "-c", "import strata._base.command as c; print(c.program())",
                env={"PYTHONPATH": str(tmp_path / "unpacked")}).strip()
    assert found == str(program)

    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    shutil.copytree(tmp_path / "unpacked/strata", packages / "strata")
    (tmp_path / "alone/bin").mkdir(parents=True)
    alone = shutil.copy(program, tmp_path / "alone/bin/strata")
    path = f"{tmp_path / 'venv/bin'}:{os.environ['PATH']}"
    assert library(alone, PATH=path) == ("ok", str(packages / "strata/libstrata_inject.so"))


def test_the_page_is_inside(wheels, tmp_path):
    program = unpack(wheels["x86_64"], tmp_path)
    run(program, "report", TRACE, "--html", tmp_path / "report.html")
    assert "<script" in (tmp_path / "report.html").read_text()


@pytest.fixture(scope="session")
def arm(wheels, tmp_path_factory):
    """A command that runs the wheel's program for 64-bit ARM."""
    folder = tmp_path_factory.mktemp("arm")
    program = unpack(wheels["aarch64"], folder / "wheel")
    command = folder / "bin" / "strata"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {" ".join(QEMU)} "{program}" "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return command


@pytest.mark.parametrize("name", GOLDENS)
def test_arm_gives_the_same_answers(arm, name):
    said = run(sys.executable, TOP / "tests/cli/run.py", "--strata", arm,
               TOP / "tests/cli" / f"{name}.t")
    assert "0 failed" in said


def test_arm_writes_the_same_page(arm, tmp_path):
    for command, name in ((arm, "arm.html"), (NATIVE, "native.html")):
        run(command, "report", TRACE, "--html", tmp_path / name)
    pages = [(tmp_path / name).read_text() for name in ("arm.html", "native.html")]
    data = [re.sub(r"<script>.*?</script>|<style>.*?</style>|<meta[^>]*>", "", page, flags=re.S)
            for page in pages]  # without the viewer, which may come from another esbuild
    assert len(data[0]) > 1_000_000 and data[0] == data[1]


@pytest.fixture(scope="session")
def arm_tests(wheels):
    """The unit tests, built in the folder of the wheel, whose objects they share."""
    build = WHEELS / "aarch64"
    env = {"PATH": f"{WHEELS / 'venv/bin'}:{os.environ['PATH']}"}
    run("meson", "configure", build, "-Dtests=true", env=env)
    run("ninja", "-C", build, *(f"tests/test_{name}" for name in UNITS), env=env)
    return build / "tests"


@pytest.mark.parametrize("name", UNITS)
def test_arm_passes_unit_tests(arm_tests, name):
    said = run(*QEMU, arm_tests / f"test_{name}", env={"STRATA_TEST_DATA": str(TOP / "tests/data")})
    assert re.search(r"^[1-9]\d* passed, 0 failed$", said, re.M), said
