"""The program starts in a moment. Time is for bench/; here is what it is made of: pages touched,
libraries loaded, waits."""
import os
import subprocess

import pytest

from conftest import PROGRAM

MOST_PAGES = 400  # a fault for each; about 120 are the libraries'
MOST_WAITS = 20


@pytest.mark.parametrize("args", [["--version"], ["help"], ["report", "--help"]])
def test_little_is_done_before_the_answer(args):
    process = subprocess.Popen([PROGRAM, *args], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert used.ru_minflt < MOST_PAGES
    assert used.ru_nvcsw < MOST_WAITS


def test_few_libraries_are_loaded():
    shown = subprocess.run(["readelf", "-d", PROGRAM], check=True, capture_output=True, text=True)
    needed = [line for line in shown.stdout.splitlines() if "(NEEDED)" in line]
    assert 1 <= len(needed) <= 8, needed
