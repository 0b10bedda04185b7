"""strata/strata.h and strata.hpp as others compile them: C and C++, old and new, with and without
STRATA_DISABLE."""
import json
import os
import shutil
import subprocess
from collections import Counter

import pytest

from conftest import BUILD, PROGRAM, clean_environment

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include")

USE = """
#include <strata/strata.h>
static const struct strata_schedule cycle = {1, 1, 2, 0, 0};
int main(void)
{
    strata_set_schedule(&cycle);
    strata_set_schedule(0);
    if (strata_start(0) < 0) return 1;
    strata_process_name("p");
    strata_thread_name("t");
    strata_begin("a");
    strata_arg_int("i", 1);
    strata_arg_num("n", 0.5);
    strata_arg_text("t", "x");
    strata_begin_in("cat", "b");
    strata_end();
    strata_end();
    STRATA_BEGIN("c");
    STRATA_END();
    { STRATA_SCOPE("d"); STRATA_SCOPE("e"); strata_instant("i"); strata_counter("c", 1); }
    strata_step();
    strata_stop();
    (void)strata_on();
    (void)strata_trouble();
    return 0;
}
"""


def compile_with(tmp_path, command, text, *flags, link=True):
    source = tmp_path / ("use.cc" if "++" in command else "use.c")
    source.write_text(text)
    libraries = ["-L", f"{BUILD}/src/record", "-lstrata_record", f"-Wl,-rpath,{BUILD}/src/record"]
    subprocess.run([command, "-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", INCLUDE, *flags, "-o",
                    "use", source.name, *(libraries if link else [])], cwd=tmp_path, check=True)


COMPILERS = [(c, f) for c, flags in (("cc", ["-std=c99", "-std=gnu11", "-std=c17", "-O2"]),
                                     ("c++", ["-std=c++11", "-std=c++20", "-O2"]),
                                     ("clang", ["-std=c11"]), ("clang++", ["-std=c++17"]))
             for f in flags]


@pytest.mark.parametrize("command,flag", COMPILERS)
def test_compiles_and_runs(tmp_path, command, flag):
    if not shutil.which(command):
        pytest.skip(f"no {command} here")
    compile_with(tmp_path, command, USE, flag)
    done = subprocess.run(["./use"], cwd=tmp_path, capture_output=True, check=True,
                          env=clean_environment(STRATA_OUT=tmp_path / "out"))
    assert done.stdout == done.stderr == b""
    assert list((tmp_path / "out").glob("*/*/rings/*.ring"))


@pytest.mark.parametrize("command,flag", COMPILERS + [("cc", "-O0"), ("c++", "-O0"), ("clang", "-O0")])
def test_disabled_there_is_nothing(tmp_path, command, flag):
    """Not even the library is needed."""
    if not shutil.which(command):
        pytest.skip(f"no {command} here")
    compile_with(tmp_path, command, USE, flag, "-DSTRATA_DISABLE", link=False)
    subprocess.run(["./use"], cwd=tmp_path, check=True, env=clean_environment(STRATA="on"))
    symbols = subprocess.run(["nm", "use"], cwd=tmp_path, check=True, capture_output=True, text=True)
    called = [line for line in symbols.stdout.splitlines() if " U " in line]
    assert not any("strata" in line for line in called)


SCOPES = """
#include <stdexcept>
#include <strata/strata.hpp>
static void layer(int i)
{
    strata::scope here("layer " + std::to_string(i));
    strata::scope inner("kinds", std::string("kind ") + char('a' + i % 2));
    if (i == 3) throw std::runtime_error("left by an exception");
}
int main(int argc, char **argv)
{
    if (strata_start(0) < 0) return 1;
    strata::scope all(argc > 1 ? argv[1] : "all");
    for (int i = 0; i < 4; i++)
        try { layer(i); } catch (const std::exception &) {}
    return 0;
}
"""


@pytest.mark.parametrize("command,flag", [("c++", "-std=c++11"), ("c++", "-std=c++17"),
                                          ("c++", "-std=c++20"), ("c++", "-O2"),
                                          ("clang++", "-std=c++17")])
def test_scopes_with_names_of_the_run_time(tmp_path, command, flag):
    if not shutil.which(command):
        pytest.skip(f"no {command} here")
    compile_with(tmp_path, command, SCOPES, flag)
    subprocess.run(["./use", "named"], cwd=tmp_path, check=True,
                   env=clean_environment(STRATA_OUT=tmp_path / "out"))
    (run,) = (tmp_path / "out").glob("*/*")
    done = subprocess.run([PROGRAM, "stages", str(run), "--json"], capture_output=True, check=True)
    found = Counter()
    for stage in json.loads(done.stdout)["stages"]:
        found[stage["name"]] += stage["count"]
    assert found == {"named": 1, "layer 0": 1, "layer 1": 1, "layer 2": 1, "layer 3": 1,
                     "kind a": 2, "kind b": 2}


@pytest.mark.parametrize("flag", ["-O0", "-std=c++11", "-std=c++20"])
def test_disabled_scopes_need_no_library(tmp_path, flag):
    if not shutil.which("c++"):
        pytest.skip("no c++ here")
    compile_with(tmp_path, "c++", SCOPES, flag, "-DSTRATA_DISABLE", link=False)
    subprocess.run(["./use"], cwd=tmp_path, check=True, env=clean_environment(STRATA="on"))


def test_a_scope_that_ends_at_once_is_an_error(tmp_path):
    """Forgotten names, as in `strata::scope("x");`, do not compile quietly."""
    if not shutil.which("c++"):
        pytest.skip("no c++ here")
    (tmp_path / "use.cc").write_text('#include <strata/strata.hpp>\n'
                                     'int main() { strata::scope("x"); }\n')
    done = subprocess.run(["c++", "-std=c++20", "-Werror", "-Wall", "-I", INCLUDE, "-c", "use.cc"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "nodiscard" in done.stderr


def test_scopes_end_when_an_exception_leaves_them(tmp_path):
    if not shutil.which("c++"):
        pytest.skip("no c++ here")
    compile_with(tmp_path, "c++", """
        #include <stdexcept>
        #include <strata/strata.h>
        static void thrower() { STRATA_SCOPE("inner"); throw std::runtime_error("x"); }
        int main()
        {
            strata_start(0);
            for (int i = 0; i < 3; i++) {
                STRATA_SCOPE("outer");
                try { thrower(); } catch (const std::exception &) {}
            }
            return 0;
        }
    """)
    subprocess.run(["./use"], cwd=tmp_path, check=True,
                   env=clean_environment(STRATA_RUN=tmp_path / "run"))
    program = os.path.join(BUILD, "src", "strata")
    subprocess.run([program, "export", tmp_path / "run", "--to", "timing"], check=True, capture_output=True)
    import json
    stages = json.loads((tmp_path / "run" / "timing.json").read_text())["stages"]
    assert {p: s["count"] for p, s in stages.items()} == {"outer": 3, "outer/inner": 3}


def test_static_library_keeps_its_names_to_itself(tmp_path):
    """Only strata_* may be seen by the linker: users have functions called arena_init too."""
    archive = f"{BUILD}/src/record/libstrata_record.a"
    symbols = subprocess.run(["nm", "--defined-only", "-g", archive], check=True,
                             capture_output=True, text=True).stdout
    names = [line.split()[-1] for line in symbols.splitlines() if " " in line.strip()]
    assert names and all(name.startswith("strata_") for name in names)
    (tmp_path / "use.c").write_text(USE + "int arena_init(void) { return 1; }\n")
    subprocess.run(["cc", "-I", INCLUDE, "-o", "use", "use.c", archive, "-lpthread"], cwd=tmp_path,
                   check=True)
    subprocess.run(["./use"], cwd=tmp_path, check=True,
                   env=clean_environment(STRATA_OUT=tmp_path / "out"))
