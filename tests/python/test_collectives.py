"""What collectives carry, as recorded by `strata run --level timeline`: from torch's flight recorder
(gloo) and from NCCL's profiler interface, here of an NCCL that is not there (tests/capture/nccl.c)."""
import collections
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from conftest import BUILD, PROGRAM, clean_environment

FAKES = Path(BUILD) / "tests" / "capture"
LIBRARY = Path(BUILD) / "python" / "strata" / "libstrata_inject.so"


def strata(*words, timeout=120, **env):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=timeout,
                          check=False, env=clean_environment(**env))


def notes_in(folder, category, tmp_path):
    path = tmp_path / "exported.json"
    done = strata("export", folder, "-o", path)
    assert done.returncode == 0, done.stderr
    return [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == category]


# ---- NCCL

@pytest.fixture
def nccl(tmp_path):
    """nccl(version): the program under `strata run`, and its folder."""

    def run(version, **env):
        libraries = tmp_path / "lib"
        libraries.mkdir(exist_ok=True)
        for name, file in {"libcuda.so.1": "libcuda.so.1", "libcupti.so.13": "libcupti.so.13.fake"}.items():
            (libraries / name).unlink(missing_ok=True)
            (libraries / name).symlink_to(FAKES / file)
        done = strata("run", "-o", tmp_path / "out", "--level", "timeline", "--", FAKES / "capture_nccl",
                      version, LD_LIBRARY_PATH=libraries, APP_CUPTI="libcupti.so.13", FAKE_CUPTI="", **env)
        folders = sorted(p.parent for p in (tmp_path / "out").glob("*/*/rings"))
        return done, folders[0] if folders else None

    return run


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_nccl_describes_its_kernels(nccl, tmp_path, version):
    done, folder = nccl(version)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "strata wants 6, context yes\ndone\n"  # no answer but success, no word of ours
    notes = notes_in(folder, "collective_kernel", tmp_path)
    assert [n["name"] for n in notes] == ["nccl:AllReduce"] * 3 + ["nccl:AllGather", "nccl:Send", "nccl:Recv"]
    first = notes[1]["args"]
    assert first["Process Group Name"] == "0xabc" and first["Seq"] == 1
    assert (first["In msg nelems"], first["dtype"]) == (1000, "Float")
    assert (first["Algorithm"], first["Protocol"], first["Channels"]) == ("RING", "LL", 16)
    if version >= 4:  # they say who is in the communicator
        assert first["Process Group Description"] == "tp" and first["Group size"] == 4
        assert (notes[4]["args"]["Src Rank"], notes[4]["args"]["Dst Rank"]) == (1, 2)
        assert (notes[5]["args"]["Src Rank"], notes[5]["args"]["Dst Rank"]) == (0, 1)

    told = json.loads(strata("report", folder, "--whole", "--json").stdout)["communication"]
    kinds = {k["name"]: k for k in told["collectives"]}
    assert kinds["all_reduce"]["calls"] == 3 and kinds["all_reduce"]["bytes"] == 3 * 1000 * 4
    assert kinds["all_reduce"]["group"] == "0xabc"
    assert kinds["send_recv"]["bytes"] == 2 * 300 * 4  # one kernel for both
    if version >= 4:
        assert kinds["all_gather"]["bytes"] == 500 * 4 * 2  # of four ranks, two bytes each
        assert kinds["all_reduce"]["group_size"] == 4 and kinds["all_reduce"]["bus_gb_per_s"] > 0
    else:  # how many ranks there are is not known
        assert kinds["all_gather"]["bytes"] is None


def test_an_nccl_with_a_newer_interface_finds_the_older(nccl):
    """NCCL asks for the newest version that it knows, then for older ones."""
    done, _ = nccl(7)
    assert done.returncode == 0 and done.stdout == "no ncclProfiler_v7\n"


def test_another_plug_in_stays(nccl, tmp_path):
    """The program would load theirs, which is not there."""
    done, _ = nccl(4, NCCL_PROFILER_PLUGIN=tmp_path / "theirs.so")
    assert done.returncode == 9 and "theirs.so" in done.stderr


def test_without_a_folder_to_write_to_nccl_goes_on(tmp_path):
    """Loaded by NCCL alone, and nothing can be recorded: every answer is success, without a word."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
    (tmp_path / "file").write_text("")
    done = subprocess.run([FAKES / "capture_nccl", "5"], capture_output=True, text=True, timeout=60, check=False,
                          env=clean_environment(LD_LIBRARY_PATH=tmp_path / "lib", NCCL_PROFILER_PLUGIN=LIBRARY,
                                                STRATA_RUN=tmp_path / "file" / "run"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "strata wants 6, context yes\ndone\n", "")


def test_nccl_is_not_recorded_before_somebody_asks(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
    done = strata("run", "-o", tmp_path / "out", "--level", "standby", "--", FAKES / "capture_nccl", 5,
                  LD_LIBRARY_PATH=tmp_path / "lib")
    assert done.returncode == 0 and done.stdout == "strata wants 6, context yes\ndone\n"
    assert not list((tmp_path / "out").glob("*/*/rings/*.ring"))
