"""`make install` gives everything: the program, its pages and completions, and a library that a
C program finds through pkg-config, in any prefix."""
import json
import os
import subprocess

import pytest

BUILD = os.environ["STRATA_BUILD"]

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
