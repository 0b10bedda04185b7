"""Every example that `strata help COMMAND` shows works, on files of the names it uses. Where it
needs torch, a GPU or Nsight Compute, other tests have it; the list below says which."""
import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM, clean_environment

DATA = Path(__file__).resolve().parents[1] / "data"
ELSEWHERE = re.compile(r"torchrun|--level timeline|--only|my_pipe|profile_denoise|ncu-rep|--counters|"
                       r"--open|^strata mcp|/etc/|offload calibrate|train\.py|server\.py|"
                       r"^strata record")


def lines_of_help(*words):
    return subprocess.run([PROGRAM, "help", *words], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def examples():
    commands = [m[1] for line in lines_of_help() if (m := re.match(r"  ([a-z]+)  +[a-z]", line))]
    assert len(commands) > 20
    for command in commands:
        shown = lines_of_help(command)
        for line in shown[shown.index("examples"):]:
            if line.startswith("  strata ") and not ELSEWHERE.search(line.strip()):
                yield line.strip()


def fill(folder, before, after):
    """A folder with a file for every name in the examples."""
    for name in ("trace", "before", "before1", "before2", "main", "run"):
        shutil.copy(before, folder / f"{name}.json.gz")
    for name in ("after", "after1", "after2", "pull"):
        shutil.copy(after, folder / f"{name}.json.gz")
    for name in ("trace", "run"):
        (folder / f"{name}.json").write_bytes(gzip.decompress(before.read_bytes()))
    subprocess.run([PROGRAM, "export", "run.json", "-o", "run.strata"], cwd=folder, check=True,
                   capture_output=True)
    shutil.copy(before, folder / "rank0.json")
    shutil.copy(DATA / "memory" / "growing.pickle", folder / "snapshot.pickle")
    shutil.copytree(DATA / "comm" / "slow_rank", folder / "traces")
    for rank in (folder / "traces").glob("rank*.json"):
        (folder / f"{rank.name}.gz").write_bytes(gzip.compress(rank.read_bytes()))
    subprocess.run([PROGRAM, "export", "--to", "tables", "traces", "-o", "tables"], cwd=folder, check=True,
                   capture_output=True)
    (folder / "budget.txt").write_text("kernels_per_step <= 1000\n")
    (folder / "pipe.py").write_text("import strata\n@strata.stage('vae_decode')\ndef f(x): pass\nf(1)\n")
    subprocess.run([PROGRAM, "run", "-o", "made", "--", "python3", "pipe.py"], cwd=folder, check=True,
                   capture_output=True, env=clean_environment())
    [run] = (folder / "made").glob("*/*/")
    for name in ("strata_out/flux/20261115_101502", "strata_out/flux/20261115_103310",
                 "strata_out/flux_fast/20261115_101502", "strata_out/train/20261115_101502",
                 "strata_out/pipe/20260105_101502", "before", "after", "before1", "before2", "before3",
                 "after1", "after2", "after3"):
        shutil.copytree(run, folder / name)
    (folder / "python").symlink_to(sys.executable)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Traces with what an example asks for: weights that are streamed, attention, a sync."""
    pairs = {"offload": ["offload/pinned_stream_all", "offload/pageable_stream_all"],
             "flash": ["whatif/gpubound_v0", "whatif/gpubound_v0"],
             "": ["whatif/pingpong_v0", "whatif/pingpong_v1"]}
    return {word: fill(tmp_path_factory.mktemp("examples"), *(DATA / f"{n}.json.gz" for n in names))
            for word, names in pairs.items()}


@pytest.mark.parametrize("line", list(examples()))
def test_example(folders, line):
    folder = next(f for word, f in folders.items() if word in line)
    path = f"{folder}:{Path(PROGRAM).parent}:{Path(sys.executable).parent}:/usr/bin:/bin"
    command, _, question = line.partition(" | jq ")
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True,
                          timeout=300, env=clean_environment(PATH=path))
    assert done.returncode == 0, done.stderr
    if question:
        answer = json.loads(done.stdout)
        first = re.match(r"'?\.([a-z_]+)", question)[1]
        assert first in answer, question
