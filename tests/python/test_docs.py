"""The code in the documents runs: Python blocks as programs of their own, C blocks through the
compiler, and in shell blocks every strata command with options that it has. (The console blocks,
which show output, are tools/check_docs.py's.) What a block needs and a reader knows stands before
it in a comment, <!-- given ... -->; in a C block it has %s where the block goes."""
import functools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM, clean_environment

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(?:^<!-- given\n((?:(?!-->).)*)-->\n+)?^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(*languages):
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.split()
    for name in names:
        text = (ROOT / name).read_text()
        for found in FENCE.finditer(text):
            if found[2] in languages:
                line = text.count("\n", 0, found.start(3))
                yield pytest.param(found[1] or "", found[3], id=f"{name}:{line}")


@pytest.mark.parametrize("given, text", list(blocks("python")))
def test_python_runs(given, text, tmp_path):
    env = clean_environment(STRATA_OUT=tmp_path, STRATA_TABLE="off", STRATA_ROOT=ROOT)
    done = subprocess.run([sys.executable, "-c", given + text], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("given, text", list(blocks("c")))
def test_c_compiles(given, text, tmp_path):
    command = ["cc", "-std=c11", "-Wall", "-fsyntax-only", "-I", ROOT / "include", "-x", "c", "-"]
    done = subprocess.run(command, input=given.replace("%s", text) or text, cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@functools.cache
def help_of(command):
    done = subprocess.run([PROGRAM, "help", command], capture_output=True, text=True)
    assert done.returncode == 0, f"no such command: {command}"
    return done.stdout


def strata_calls(text):
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for at, word in enumerate(words[:-1]):
            if word == "strata" and re.fullmatch(r"[a-z]+", words[at + 1]):
                ends = (i for i in range(at, len(words)) if words[i] in ("--", "|", "&&", ";"))
                end = next(ends, len(words))
                yield words[at + 1], words[at + 2:end]


@pytest.mark.parametrize("given, text", list(blocks("sh", "bash")))
def test_shell_names_what_exists(given, text):
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    for command, words in strata_calls(text):
        for option in (w.split("=")[0] for w in words if re.match(r"--?[a-z]", w)):
            assert re.search(rf"(^|[\s,]){option}\b", help_of(command)), f"strata {command} {option}"
        help_of(command)


def test_reference_is_complete():
    import strata
    import strata.bench
    text = (ROOT / "docs" / "api.md").read_text()
    names = [f"strata.{n}" for n in strata.__all__ if n not in ("__version__", "memory")]
    for module in (strata.memory, strata.bench):
        short = module.__name__.split(".")[-1]
        names += [f"{short}.{n}" for n, v in vars(module).items()
                  if getattr(v, "__module__", "") == module.__name__ and not n.startswith("_")]
    header = (ROOT / "include" / "strata" / "strata.h").read_text()
    names += re.findall(r"\b(strata_[a-z_]*[a-z])\(", header)
    missing = [n for n in names if n not in text and not n.endswith("_")]
    assert not missing


def test_the_readme_is_read_to_its_end():
    """It was 180 lines once: what is more than an overview has a page."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
