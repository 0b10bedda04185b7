"""What every command owes its user, whatever it does: lines that fit, JSON that parses with keys
in one style, a next step, errors that name the file, nothing but results on standard output."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(os.environ["STRATA_BUILD"]) / "src" / "strata"
DATA = Path(__file__).resolve().parent.parent / "data"
TRACES = [DATA / "tiny.json", DATA / "matmul_add" / "64_bf16_cold_eager.json.gz",
          DATA / "whatif" / "pingpong_v0.json.gz", DATA / "flux2" / "flux2_before_compile.json.gz"]


def strata(*args, **options):
    return subprocess.run([PROGRAM, *args], capture_output=True, timeout=120, **options)


def commands():
    return json.loads(strata("help", "--json").stdout)["commands"]


NEED_MORE = {"check", "export"}  # a budget, a place to write to
ON_TRACES = [c["name"] for c in commands() if c["operands"] == "TRACE" and c["name"] not in NEED_MORE]
CASES = [(name, [trace]) for name in ON_TRACES for trace in TRACES]
CASES += [("diff", [TRACES[2], DATA / "whatif" / "pingpong_v1.json.gz"])]
IDS = [f"{name}-{files[0].name.split('.')[0]}" for name, files in CASES]


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)


@pytest.mark.parametrize("name,files", CASES, ids=IDS)
def test_text(name, files):
    done = strata(name, *files)
    text = done.stdout.decode("utf-8")
    assert done.returncode == 0, done.stderr
    assert text.endswith("\n")
    assert "\033" not in text and "\t" not in text
    wide = [line for line in text.splitlines() if len(line) > 100 and str(files[0]) not in line]
    assert not wide
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("name,files", CASES, ids=IDS)
def test_json(name, files):
    done = strata(name, *files, "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    odd = {key for key in keys(value) if not re.fullmatch(r"[a-z][a-z0-9_]*", key)}
    assert not odd


@pytest.mark.parametrize("name", ON_TRACES)
def test_the_number_of_threads_changes_nothing(name):
    one, four = (strata(name, TRACES[2], "--json", env=dict(os.environ, STRATA_TEST_THREADS=n)).stdout
                 for n in ("1", "4"))
    assert one == four


@pytest.mark.parametrize("name", ON_TRACES)
def test_standard_input(name):
    text = TRACES[0].read_bytes()
    value = json.loads(strata(name, "-", "--json", input=text).stdout)
    assert value.keys() == json.loads(strata(name, TRACES[0], "--json").stdout).keys()


@pytest.mark.parametrize("name", ON_TRACES)
def test_bad_input_names_the_file(name, tmp_path):
    page = tmp_path / "page.json"
    page.write_text("<!DOCTYPE html><p>not a trace")
    empty = tmp_path / "empty.json"
    empty.touch()
    for path in (page, empty, tmp_path / "missing.json"):
        done = strata(name, path)
        assert done.returncode == 3
        assert done.stdout == b""
        assert done.stderr.startswith(b"strata: " + str(path).encode())
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("name", ON_TRACES)
def test_usage(name):
    assert strata(name).returncode == 2
    assert strata(name, TRACES[0], "--nonsense").returncode == 2
    assert strata(name, "--help").stdout.startswith(f"usage: strata {name} ".encode())
