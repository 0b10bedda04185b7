"""`make install` gives everything: the program, its pages and completions, and a library that a
C program finds through pkg-config and CMake, in any prefix."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = os.environ["STRATA_BUILD"]
SOURCE = Path(__file__).parents[2] / "python"

PROGRAM = """
#include <strata/strata.h>
int main(void)
{
    strata_begin("work");
    strata_end();
    return 0;
}
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", str(root)],
                   check=True, capture_output=True, timeout=120)
    found = [p.parent.parent for p in root.glob("**/bin/strata")]
    assert len(found) == 1
    return found[0]


MODULES = sorted(p.relative_to(SOURCE).with_name(p.name.removesuffix(".in"))
                 for ending in ("py", "py.in", "sql") for p in SOURCE.glob(f"strata/**/*.{ending}"))


def test_no_module_is_forgotten(prefix):
    """Every module and query of the package is built and installed, and nothing else."""
    for package in (Path(BUILD) / "python", prefix / "lib" / "strata" / "python"):
        found = sorted(p.relative_to(package) for ending in ("py", "sql")
                       for p in package.glob(f"strata/**/*.{ending}"))
        assert found == MODULES
        for library in ("_strata.abi3.so", "libstrata_inject.so"):
            assert (package / "strata" / library).exists()


def test_queries_are_found_where_they_are_installed(prefix):
    command = [prefix / "bin" / "strata", "sql", "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "stragglers" in done.stdout


def test_the_installed_program_brings_its_package(prefix, tmp_path):
    """In any prefix: `strata run` finds the package, and the package the program."""
    (tmp_path / "prog.py").write_text("import strata, strata._base.command as p\n"
                                      "with strata.stage('work'):\n    print(p.program())\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("STRATA", "PYTHON"))}
    done = subprocess.run([prefix / "bin" / "strata", "run", "--", sys.executable, "prog.py"],
                          capture_output=True, text=True, cwd=tmp_path, env=env, timeout=120)
    assert done.returncode == 0 and "work" in done.stderr, done.stderr
    assert done.stdout == f"{prefix / 'bin' / 'strata'}\n"
    env["PYTHONPATH"] = str(prefix / "lib" / "strata" / "python")
    done = subprocess.run([sys.executable, "prog.py"], capture_output=True, text=True, cwd=tmp_path,
                          env=env, timeout=120)
    assert os.path.samefile(done.stdout.strip(), prefix / "bin" / "strata"), done.stderr


def test_every_command_has_a_page(prefix):
    out = subprocess.run([prefix / "bin" / "strata", "help", "--json"], check=True,
                         capture_output=True, timeout=60).stdout
    for command in json.loads(out)["commands"]:
        page = prefix / "share" / "man" / "man1" / f"strata-{command['name']}.1"
        assert page.read_text().startswith(".TH STRATA")
    assert (prefix / "share" / "man" / "man1" / "strata.1").exists()


def test_completions(prefix):
    for path in ("bash-completion/completions/strata", "zsh/site-functions/_strata",
                 "fish/vendor_completions.d/strata.fish"):
        assert "report" in (prefix / "share" / path).read_text()


def test_a_c_program_builds_with_pkg_config(prefix, tmp_path):
    found = next(prefix.glob("**/pkgconfig/strata.pc"))
    env = dict(os.environ, PKG_CONFIG_PATH=str(found.parent))
    flags = subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags",
                            "--libs", "strata"], check=True, capture_output=True, text=True,
                           env=env).stdout.split()
    source = tmp_path / "main.c"
    source.write_text(PROGRAM)
    program = tmp_path / "main"
    subprocess.run(["cc", "-Wall", "-Werror", str(source), "-o", str(program), *flags], check=True)
    library = found.parent.parent
    env = {k: v for k, v in os.environ.items() if not k.startswith("STRATA")}
    env["LD_LIBRARY_PATH"] = str(library)
    subprocess.run([program], check=True, env=env, cwd=tmp_path, timeout=60)


CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(use C)
find_package(strata 0.1 REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared strata::strata)
add_executable(static main.c)
target_link_libraries(static strata::static)
"""


@pytest.mark.skipif(not shutil.which("cmake"), reason="no cmake; tools/deps.sh python installs it")
def test_a_c_program_builds_with_cmake(prefix, tmp_path):
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    env = {k: v for k, v in os.environ.items() if not k.startswith("STRATA")}

    def cmake(*words):
        return subprocess.run(["cmake", *map(str, words)], cwd=tmp_path, env=env, timeout=300,
                              capture_output=True, text=True, check=False)

    done = cmake("-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode == 0, done.stdout + done.stderr
    done = cmake("--build", "b")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("shared", "static"):
        subprocess.run([tmp_path / "b" / name], check=True, cwd=tmp_path, timeout=60,
                       env=env | {"STRATA": "on", "STRATA_OUT": str(tmp_path / name)})
        assert list((tmp_path / name).glob("*/*/rings/*.ring"))
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.replace("strata 0.1", "strata 0.7"))
    assert "version" in cmake("-S", ".", "-B", "c", f"-DCMAKE_PREFIX_PATH={prefix}").stderr
