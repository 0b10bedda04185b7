"""For all Python tests: the package out of the build folder, files into a folder of the test run,
and programs run in processes of their own."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

BUILD = os.environ["STRATA_BUILD"]
PACKAGE = os.path.join(BUILD, "python")
PROGRAM = os.path.join(BUILD, "src", "strata")

# A runner in the background ignores Ctrl-C, one under nohup hanging up, and so would every program
# tested here.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

sys.path.insert(0, PACKAGE)
_scratch = tempfile.TemporaryDirectory(prefix="strata-pytest-")
os.environ.update(STRATA_OUT=_scratch.name, STRATA_TABLE="off", STRATA_PIPELINE="pytest",
                  STRATA_BIN=PROGRAM, HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false",
                  TELEFUSER_PROFILER_OUTPUT_DIR=_scratch.name)
OURS = ("STRATA", "TELEFUSER")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes many seconds of processor time; only in `make test-all`")
    config.addinivalue_line("markers", "alone: says which of several processes is late; not beside others")


def pytest_addoption(parser):
    parser.addoption("--alone", choices=["no", "only"], help="without the tests marked alone, or only those")


def pytest_collection_modifyitems(config, items):
    which = config.getoption("--alone")
    if which:
        items[:] = [i for i in items if bool(i.get_closest_marker("alone")) == (which == "only")]


def clean_environment(**more):
    """The environment of a program of its own: nothing of this process's run in it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(OURS) or k == "STRATA_BUILD"}
    env.update(PYTHONPATH=PACKAGE, STRATA_BIN=PROGRAM)
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return env


class Program:
    """A Python program that ran: what it said, and what it left behind."""

    def __init__(self, done, out):
        self.status = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr
        self.out = Path(out)

    def folders(self):
        """The run folders, oldest first."""
        return sorted(p.parent for p in self.out.glob("*/*/rings"))

    def folder(self):
        folders = self.folders()
        assert len(folders) == 1, (folders, self.stderr)
        return folders[0]

    def json(self, name="timing.json"):
        return json.loads((self.folder() / name).read_text())


@pytest.fixture
def program(tmp_path):
    """program(text, *args, **environment): runs the text as a script."""

    def run(text, *args, command=(sys.executable,), timeout=300, cwd=None, **env):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        out = tmp_path / "out"
        env.setdefault("STRATA_OUT", out)
        done = subprocess.run([*command, str(script), *map(str, args)], cwd=cwd or tmp_path,
                              capture_output=True, text=True, timeout=timeout,
                              env=clean_environment(**env))
        return Program(done, env["STRATA_OUT"] or out)

    return run


@pytest.fixture
def strata():
    """The package, with nothing recorded yet."""
    import strata
    strata.reset()
    return strata
