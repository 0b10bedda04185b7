"""The checks of `make lint` that are ours find what they are for."""
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def history(tmp_path):
    """A repository to which tools/check_commits.py was added after a first commit; commit(subject)
    makes another and returns what the check says and its status."""
    if not shutil.which("git"):
        pytest.skip("no git here")

    def git(*words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=tmp_path,
                       check=True, capture_output=True)

    def commit(subject):
        git("commit", "--allow-empty", "-m", subject)
        done = subprocess.run([tmp_path / "tools" / "check_commits.py"], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout

    git("init", "-q")
    git("commit", "--allow-empty", "-m", "Older than the check, and not as it wants it.")
    (tmp_path / "tools").mkdir()
    shutil.copy(TOOLS / "check_commits.py", tmp_path / "tools")
    git("add", ".")
    assert commit("Adds the check itself.") == (0, "")
    return commit


@pytest.mark.parametrize("subject", ["rules: name unfused attention", "python, tests: rename",
                                     ".ci: run lint", "docs/rules: " + 60 * "x"])
def test_good_subjects(history, subject):
    assert history(subject) == (0, "")


@pytest.mark.parametrize("subject, what", [
    ("Fix it", "write it as `area: text`"), ("rules:name it", "write it as"), ("rules: ", "write it as"),
    ("rules: " + 66 * "x", "73 characters, at most 72"), ("rules: name it.", "no full stop")])
def test_bad_subjects(history, subject, what):
    status, said = history(subject)
    assert status == 1 and what in said and subject.strip() in said
    status, _ = history("rules: a good one does not hide it")
    assert status == 1


def test_commits_of_no_repository(tmp_path):
    shutil.copy(TOOLS / "check_commits.py", tmp_path)
    done = subprocess.run([tmp_path / "check_commits.py"], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert (done.returncode, done.stdout) == (0, "")


def test_imports_that_go_the_wrong_way(tmp_path):
    folder = tmp_path / "python" / "strata"
    (folder / "_base").mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    check = shutil.copy(TOOLS / "check_python_layers.py", tmp_path / "tools")
    (folder / "_base" / "files.py").write_text("import os\nfrom strata._base import settings\n")
    assert subprocess.run([check], check=False).returncode == 0
    for line in ("from strata._report import table", "import strata._report.table", "import strata",
                 "def f():\n    from strata import _report", "from .. import _report"):
        (folder / "_base" / "files.py").write_text(line + "\n")
        done = subprocess.run([check], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "_base must not import" in done.stdout, line
    (folder / "_base" / "files.py").unlink()
    (folder / "surprise.py").write_text("")
    done = subprocess.run([check], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "'surprise' is not a layer" in done.stdout


@pytest.mark.parametrize("name, text, said", [
    ("a.c", "/* One a line. */\n", "One per line"),
    ("a.h", 'static const char *s = "the damage is "\n                      "told once";\n', "reported"),
    ("a.py", '"""Records 3 us a launch."""\n', "per"),
    ("a.ts", "const NONE = 'together with the others so marked';\n", "marked"),
    ("a.md", "The CPU stands\nidle.\n", "is idle"),
    ("a.c", "/* The GPU is in a container that\n * is no container. */\n", "is not a")])
def test_phrases_that_are_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    done = subprocess.run([TOOLS / "check_words.py", tmp_path / name], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and said.split()[0].lower() in done.stdout.lower(), done.stdout


@pytest.mark.parametrize("name, text", [
    ("a.c", "/* One per line; there is no other. */\nint told = 1, so_marked;\n"),
    ("a.c", "/* 'so marked' is a phrase to refuse (words: ok) */\n"),
    ("a.py", "told = 'reported once'  # two of them are kept\n"),
    ("a.md", "A figure.\n\n```\nit is told once a line\n```\n")])
def test_phrases_that_are_fine(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    done = subprocess.run([TOOLS / "check_words.py", tmp_path / name], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_headers_with_one_user_and_names_of_files_that_are_gone(tmp_path):
    (tmp_path / "tools").mkdir()
    check = shutil.copy(TOOLS / "check_layers.py", tmp_path / "tools")
    picture = subprocess.run([TOOLS / "check_layers.py", "--picture"], capture_output=True, text=True,
                             check=True)
    (tmp_path / "ARCHITECTURE.md").write_text(f"```\n{picture.stdout}```\n")
    for folder in ("src/base", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/meson.build").write_text("custom_target('made', output: 'made.c')\n")

    def said():
        return subprocess.run([check], capture_output=True, text=True, check=False).stdout

    (tmp_path / "src/base/one.h").write_text("/* one.h: see one.c, made.c. */\n")
    (tmp_path / "src/base/one.c").write_text('#include "base/one.h"\n')
    (tmp_path / "src/base/two.c").write_text('#include "base/one.h"\n')
    assert "only src/base/two.c includes it" in said()
    (tmp_path / "tests/test_one.c").write_text('#include "base/one.h"\n')
    assert said() == ""
    (tmp_path / "src/base/two.c").write_text("/* As gone.h\n * says. */\n")
    assert "two.c:1: names gone.h, which is not there" in said()
