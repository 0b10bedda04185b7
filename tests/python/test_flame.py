"""strata export --to flame: totals are those of the other commands, for every trace, and every format says
the same."""
import gzip
import html
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conftest import PROGRAM

DATA = Path(__file__).parent.parent / "data"
FLAMEGRAPH = shutil.which("flamegraph.pl") or Path(__file__).parent.parent.parent / "build-node/flamegraph.pl"
TRACES = ["wan/wan_before_compile.json.gz", "whatif/pingpong_v0.json.gz",
          "flux2/flux2_before_compile.json.gz", "torch/gpu_threads.json.gz",
          "torch/gpu_training.json.gz", "torch/gpu_graph.json.gz", "tiny.json"]


def strata(*args):
    done = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(*args):
    return json.loads(strata(*args, "--json"))


def folded(trace, of, *more):
    stacks = {}
    for line in strata("export", trace, "--of", of, "--to", "folded", *more).splitlines():
        stack, _, ns = line.rpartition(" ")
        stacks[stack] = stacks.get(stack, 0) + int(ns)
    return stacks


@pytest.mark.parametrize("name", TRACES)
def test_totals_are_those_of_other_commands(name):
    """Of all that was recorded, and of what can be judged, where the other command judges too."""
    trace = DATA / name
    work = sum(r["total_us"] for r in ask("kernels", trace, "--whole")["rows"])
    assert sum(folded(trace, "gpu", "--whole").values()) == pytest.approx(work * 1e3, abs=2)
    for more in ((), ("--whole",)):
        idle = sum(d["idle_us"] for d in ask("gaps", trace, *more)["devices"])
        assert sum(folded(trace, "idle", *more).values()) == pytest.approx(idle * 1e3, abs=2)


def test_waits_are_those_of_syncs():
    trace = DATA / TRACES[0]
    blocked = ask("syncs", trace)["totals"]["blocked_us"]
    assert sum(folded(trace, "wait").values()) == pytest.approx(blocked * 1e3, rel=1e-6)


def test_device_time_by_operator_is_that_of_the_table():
    """What stands below an operator is its device total; one inside itself counts twice, as in torch."""
    trace = DATA / TRACES[0]
    stacks = folded(trace, "gpu")
    for row in ask("table", trace)["rows"]:
        if row["name"].startswith("aten::") and row["device_total_us"] > 0:
            below = sum(ns * stack.split(";").count(row["name"]) for stack, ns in stacks.items())
            assert below == pytest.approx(row["device_total_us"] * 1e3, rel=1e-6, abs=10), row["name"]


@pytest.mark.parametrize("of", ["gpu", "cpu", "idle", "wait"])
def test_json_and_speedscope_say_the_same(tmp_path, of):
    trace = DATA / TRACES[0]
    stacks = folded(trace, of)
    doc = ask("export", trace, "--to", "flame", "--of", of)
    assert doc["total_ns"] == sum(stacks.values()) == sum(n["self_ns"] for n in doc["nodes"])
    for i, node in enumerate(doc["nodes"], 1):
        assert node["parent"] < i
    path = tmp_path / "x.speedscope.json.gz"
    strata("export", trace, "--of", of, "-o", path)
    scope = json.loads(gzip.decompress(path.read_bytes()))
    [profile] = scope["profiles"]
    assert profile["endValue"] == sum(profile["weights"]) == doc["total_ns"]
    assert profile["unit"] == "nanoseconds" and len(profile["samples"]) == len(profile["weights"])
    assert max(k for s in profile["samples"] for k in s) < len(scope["shared"]["frames"])


def drawn(text):
    """Name and nanoseconds of every box that flamegraph.pl draws."""
    done = subprocess.run(["perl", FLAMEGRAPH, "--countname", "ns", "--minwidth", "0"], input=text,
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    titles = re.findall(r"<title>(.*) \(([\d,]+) ns, [\d.]+%\)</title>", done.stdout)
    return Counter((html.unescape(name), int(ns.replace(",", ""))) for name, ns in titles)


@pytest.mark.skipif(not Path(FLAMEGRAPH).exists() or not shutil.which("perl"),
                    reason="no flamegraph.pl here: tools/flamegraph.sh build-node")
@pytest.mark.parametrize("name", [TRACES[0], "tiny.json"])
@pytest.mark.parametrize("of", ["gpu", "cpu"])
def test_flamegraph_pl_draws_every_stack(name, of):
    stacks, boxes = folded(DATA / name, of), Counter()
    for stack, ns in stacks.items():
        frames = stack.translate(str.maketrans("<>", "()")).split(";")  # as flamegraph.pl shows them
        for depth in range(1, len(frames) + 1):
            boxes[tuple(frames[:depth])] += ns
    expected = Counter((frames[-1], ns) for frames, ns in boxes.items())
    expected["all", sum(stacks.values())] += 1
    got = drawn(strata("export", DATA / name, "--of", of, "--to", "folded"))
    assert got == expected
