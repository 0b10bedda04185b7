"""The version stands in meson.build, and nowhere else in the sources."""
import re
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM

TOP = Path(__file__).parents[2]
VERSION = re.search(r"version: '([0-9.]+)'", (TOP / "meson.build").read_text())[1]

# What was written by some version, and what each of them brought.
OTHERS = ("tests/data/", "tests/fuzz/corpus/", "CHANGELOG.md", "docs/release.md")


def sources():
    """Every file of the repository that is not among OTHERS."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        pytest.skip("no repository here")
    return [f for f in done.stdout.split("\0") if f and not f.startswith(OTHERS)]


def test_no_second_copy():
    copy = re.compile(rb"(?<![\d.])" + re.escape(VERSION).encode() + rb"(?!\.?\d)")
    found = [f for f in sources() if (TOP / f).is_file() and copy.search((TOP / f).read_bytes())]
    assert found == ["meson.build"]


def test_everything_says_it(strata):
    done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"strata {VERSION}\n"
    assert strata.__version__ == VERSION


def test_the_changelog_begins_with_it():
    first = re.search(r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$",
                      (TOP / "CHANGELOG.md").read_text(), re.M)
    assert first and first[1] == VERSION
