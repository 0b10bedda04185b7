"""The program as a Python user meets it: found, started, readable output."""
import os
import subprocess


def strata(*args):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=60)


def test_version():
    done = strata("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("strata ")


def test_unknown_command_is_a_usage_error():
    done = strata("repotr")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "unknown command" in done.stderr
