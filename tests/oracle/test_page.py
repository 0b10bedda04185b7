#!/usr/bin/env python3
"""Compares the data of the HTML page with the trace it was made from, and with the commands.

    test_page.py --strata BINARY DATA-FOLDER

Every span of the file stands in the page once, with its times and name; spans of a row are apart;
levels cover exactly what the spans of their row do; links join equal correlation ids; documents are
what `--json` prints; stories and tables point at spans that exist.
"""
import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import page_reader
import table_oracle

WHOLE = {**{name: [name] for name in ("report", "stages", "steps", "syncs")}, "launches": ["gaps",
                                                                                           "--launches"]}
TRACES = ("tiny.json", "wan/wan_before_compile.json.gz")
NAME_BYTES = 4000


def expected_spans(path):
    """(start, duration, name) of the spans a viewer draws, from the first start on."""
    events = [e for e in table_oracle.read_events(path)
              if e.get("ph") == "X" and e.get("cat") != "Trace" and "ts" in e]
    spans = [(table_oracle.to_ns(e["ts"]), max(table_oracle.to_ns(e.get("dur", 0)), 0), e["name"])
             for e in events if e.get("cat")]
    first = min(s[0] for s in spans)
    return collections.Counter((start - first, dur, name[:40]) for start, dur, name in spans)


def check_spans(page, path):
    cats = set(page.page["kinds"]) - {"other"}
    found = collections.Counter(
        (page.start[i], page.columns["dur"][i], page.name(i)[:40])
        for i in range(len(page.start)) if page.kind[i] in cats and not page.columns["flags"][i] & 2)
    wanted = expected_spans(path)
    assert found == wanted, (list((found - wanted).items())[:3], list((wanted - found).items())[:3])


def check_rows(page):
    for track in page.page["tracks"]:
        ends = collections.Counter()
        for span in range(track["first"], track["first"] + track["n"]):
            row = page.columns["depth"][span]
            over = ends[row] - page.start[span]
            assert row < track["depth"] and over <= page.columns["dur"][span] // 64, (track, span)
            assert page.end(span) >= ends[row]
            ends[row] = page.end(span)


def check_links(page):
    calls = [i for i, kind in enumerate(page.kind) if kind in ("cuda_runtime", "cuda_driver")]
    correlation = dict(zip(calls, page.columns["call_correlation"]))
    n_linked = 0
    for span, i in page.work.items():
        launch = page.columns["gpu_launch"][i]
        if launch is None:
            continue
        n_linked += 1
        assert correlation[launch] == page.columns["gpu_correlation"][i]
        assert page.columns["gpu_delay"][i] == page.start[span] - page.start[launch]
        assert page.columns["gpu_after"][i] == page.start[span] - page.end(launch)
        assert 0 <= page.columns["gpu_wait"][i] <= max(page.columns["gpu_after"][i], 0)
    assert n_linked > 0 or not page.work


def cover(page, spans, level):
    """Covered time by bucket: what overlaps counts once, and what has no length as 1 ns."""
    busy, covered = [0] * level["n"], 0
    for span in spans:
        begin, end = page.start[span], page.end(span)
        if end > begin:
            begin, covered = max(begin, covered), max(end, covered)
        else:
            end = begin + 1
        while begin < end:
            stop = min(end, (begin // level["width_ns"] + 1) * level["width_ns"])
            busy[begin // level["width_ns"]] += stop - begin
            begin = stop
    return busy


def check_levels(page):
    n_levels = 0
    for track in page.page["tracks"]:
        rows = collections.defaultdict(list)
        for span in range(track["first"], track["first"] + track["n"]):
            rows[page.columns["depth"][span]].append(span)
        for level in track["levels"]:
            busy, names = page.level(level)
            for i, ns in enumerate(cover(page, rows[level["row"]], level)):
                part = min(255, ns * 255 // level["width_ns"])
                assert busy[i] == (max(part, 1) if ns else 0), (track["label"], level, i)
            assert set(names) - {None} <= {page.name(s) for s in rows[level["row"]]}
            assert level["n"] * level["width_ns"] > page.page["window"]["t1_ns"]
            n_levels += 1
    return n_levels


def check_curves(page):
    for curve in page.page["counters"]:
        for level in curve["levels"]:
            most = page.series(level["max"], level["n"])
            assert max(most) <= curve["max"]
            if level["min"] is not None:
                assert all(a <= b for a, b in zip(page.series(level["min"], level["n"]), most))
                assert max(most) == curve["max"]
        if curve["points"]:
            values = page.series(curve["points"]["v"], curve["points"]["n"])
            assert max(max(values), 0) == curve["max"]


def check_stories(page):
    report, window = page.head["report"], page.page["window"]
    assert len(page.page["stories"]) == len(report["findings"])
    assert len(page.page["sites"]) == len(page.head["syncs"]["sites"])
    assert len(page.page["gaps"]) == len(page.head["gaps"]["gaps"])
    stages = page.head["stages"]["stages"]
    assert [s["path"] for s in page.page["stages"]] == [s["path"] for s in stages]
    calls = collections.Counter(page.columns["stage_id"])
    assert [calls[i] for i in range(len(stages))] == [s["count"] for s in stages]
    stories = page.page["stories"] + [s["story"] for s in page.page["sites"] if s["story"]]
    for step in (step for story in stories for step in story["steps"]):
        assert step["text"] and window["t0_ns"] <= step["t0_ns"] < step["t1_ns"] <= window["t1_ns"]
        assert all(0 <= s < len(page.start) for s in step["spans"])
        for arrow in step["arrows"]:
            assert page.columns["gpu_launch"][page.work[arrow["to"]]] == arrow["from"]


def check_documents(page, strata, path):
    for name, words in WHOLE.items():
        done = subprocess.run([strata, *words, path, "--whole", "--json"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert page.head[name] == json.loads(done.stdout), name
    wall = sum(bin["idle_us"] for bin in page.page["gap_histogram"])
    idle = sum(d["idle_us"] for d in page.head["gaps"]["devices"])
    assert abs(wall - idle) < 0.5


def check(strata, path):
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/page.html"
        subprocess.run([strata, "report", path, "--whole", "--html", file], check=True,
                       stderr=subprocess.DEVNULL)
        head, (page,) = page_reader.read(file)
    assert head["version"] == 1 and head["title"] == Path(path).name
    assert page.page["detail"]["complete"]
    check_spans(page, path)
    check_rows(page)
    check_links(page)
    n_levels = check_levels(page)
    assert n_levels or len(page.start) < 4096
    check_curves(page)
    check_stories(page)
    check_documents(page, strata, path)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--strata", required=True)
    options.add_argument("data", type=Path)
    o = options.parse_args()
    failed = 0
    for name in TRACES:
        try:
            check(o.strata, str(o.data / name))
        except AssertionError as why:
            failed += 1
            print(f"{name}: {why!r} at line {why.__traceback__.tb_next.tb_lineno}")
    print(f"{len(TRACES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
