#!/usr/bin/env python3
"""What must not change a diagnosis does not.

    test_metamorphic.py --strata BINARY FOLDER|TRACE... [--list] [--relation NAME]

Each relation rewrites a trace so that the answer is known from that of the original: the events in another
order, all times shifted, processes and threads renumbered,
labels renamed, through another format and back, and all times
doubled (where every time doubles and every share stays). Compared are the bound, the findings with their
places, and their gains. Prints a table of relations and violations; with --list every violation.

Of doubled times only the bound and which findings there are count, not their gains, and it is not asserted:
a gain against what the device can do grows with the time of its kernels, and a wait of a driver in
microseconds is one however long the kernels are. The table says how many reports differ."""
import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from traces import find_traces

LARGEST = 1 << 20  # packed; larger ones take minutes to rewrite
GAIN_PCT = 0.15  # rounding: shares are printed with a tenth, times of formats are whole nanoseconds
KNOWN_LABELS = {"forward", "backward"}  # words that name the phase of a training step
ASSERTED = ("reversed", "shuffled", "shifted", "renumbered", "renamed", "json.gz", "strata", "pftrace")


def events_of(doc):
    return doc["traceEvents"] if isinstance(doc, dict) else doc


def spans(doc):
    return [e for e in events_of(doc) if isinstance(e, dict) and isinstance(e.get("ts"), (int, float))]


def is_ordered_by_place(doc):
    """Spans of equal begin and end that say nothing about which one is outside: then only the file does, and
    of a shuffled file nobody knows."""
    seen = {}
    for e in spans(doc):
        if e.get("ph") != "X":
            continue
        args = e.get("args") or {}
        known = any(k in args for k in ("Python id", "External id", "correlation", "Ev Idx"))
        key = (e.get("pid"), e.get("tid"), e["ts"], e.get("dur"), e.get("cat"))
        if key in seen and not (known and seen[key]):
            return True
        seen[key] = known
    return bool({e.get("ph") for e in spans(doc)} - {"X", "i", "M", "s", "f", "t"})  # B and E pair by place


def reversed_(doc, _):
    events_of(doc).reverse()


def shuffled(doc, seed):
    random.Random(seed).shuffle(events_of(doc))


def shifted(doc, _):
    for e in spans(doc):
        e["ts"] = round(e["ts"] + 1048576, 3)


def renumbered(doc, _):
    """Processes and threads of the CPU, last threads first; those of devices are their numbers. The first
    thread of a process keeps the number of the process: that is how it is known."""
    def is_host(e):
        return isinstance(e, dict) and isinstance(e.get("pid"), int) and e["pid"] >= 64

    threads = {(e["pid"], e["tid"]) for e in events_of(doc) if is_host(e) and isinstance(e.get("tid"), int)}
    pids = {pid: 70000 + 1000 * k for k, pid in enumerate(sorted({t[0] for t in threads}, reverse=True))}
    tids = {t: pids[t[0]] + (0 if t[0] == t[1] else 2 * k + 1)
            for k, t in enumerate(sorted(threads, reverse=True))}
    for e in events_of(doc):
        if is_host(e):
            e["tid"] = tids.get((e["pid"], e.get("tid")), e.get("tid"))
            e["pid"] = pids.get(e["pid"], e["pid"])


def renamed(doc, _):
    """Labels of the program, by other words of the same kind. What a library or a profiler says keeps its
    name, since it is known by that."""
    for e in events_of(doc):
        if not isinstance(e, dict) or e.get("cat") not in ("user_annotation", "gpu_user_annotation"):
            continue
        if re.fullmatch(r"[a-z][a-z_0-9]*", str(e.get("name"))) and e["name"] not in KNOWN_LABELS:
            e["name"] = f"{e['name']}_of_mine"


def doubled(doc, _):
    for e in spans(doc):
        e["ts"] = round(e["ts"] * 2, 3)
        if isinstance(e.get("dur"), (int, float)):
            e["dur"] = round(e["dur"] * 2, 3)


REWRITES = {"reversed": reversed_, "shuffled": shuffled, "shifted": shifted, "renumbered": renumbered,
            "renamed": renamed, "doubled": doubled}
FORMATS = {"json.gz": "json.gz", "strata": "strata", "pftrace": "pftrace"}


def report(strata, path):
    done = subprocess.run([strata, "report", path, "--json"], capture_output=True, timeout=900)
    return json.loads(done.stdout) if done.returncode == 0 else None


def facts(doc):
    """What is said: the bound, and per finding its rule, place and gain."""
    findings = [(f["rule"], (f.get("source") or {}).get("file"), (f.get("source") or {}).get("line"),
                 f["predicted_gain_pct"] or 0) for f in doc["findings"]]
    return doc.get("bound"), doc["trace_quality"]["verdict"], findings


def differs(a, b, gains=True):
    """The first difference in words, or None."""
    if a[:2] != b[:2]:
        return f"{a[:2]} became {b[:2]}"
    left = {f[:3]: f[3] for f in a[2]}
    right = {f[:3]: f[3] for f in b[2]}
    for key in left.keys() | right.keys():
        if key not in left or key not in right:
            return f"{key} {'appeared' if key in right else 'vanished'}"
        if gains and abs(left[key] - right[key]) > GAIN_PCT:
            return f"{key} gains {right[key]} instead of {left[key]}"
    return None


def traces(folders):
    found = [f for f in folders if f.is_file()] + find_traces([f for f in folders if f.is_dir()])
    return [str(p) for p in found if p.stat().st_size <= LARGEST]


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return json.loads(f.read())


def variants(strata, path, folder, relations):
    """(relation, file) of each rewriting that applies."""
    for name in relations:
        out = os.path.join(folder, f"other.{FORMATS.get(name, 'json')}")
        if name in REWRITES:
            doc = load(path)
            if name == "shuffled" and is_ordered_by_place(doc):
                continue
            REWRITES[name](doc, 7)
            with open(out, "w") as f:
                json.dump(doc, f)
        elif subprocess.run([strata, "export", path, "-o", out], capture_output=True).returncode:
            continue
        yield name, out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strata", required=True)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--relation", action="append", choices=[*REWRITES, *FORMATS])
    given = parser.parse_args()
    relations = given.relation or [*REWRITES, *FORMATS]
    counts = {name: [0, 0] for name in relations}
    with tempfile.TemporaryDirectory() as folder:
        for path in traces(given.folders):
            try:
                load(path)
            except (ValueError, OSError):
                continue
            before = report(given.strata, path)
            if before is None:
                continue
            for name, other in variants(given.strata, path, folder, relations):
                after = report(given.strata, other)
                why = (
                    "no report" if after is None else differs(facts(before), facts(after), name != "doubled")
                )
                counts[name][0] += 1
                counts[name][1] += why is not None
                if why and (given.list or name in ASSERTED):
                    print(f"{name}: {path}: {why}")
    print(f"{'relation':<12}{'traces':>8}{'violations':>12}")
    for name, (n, bad) in counts.items():
        print(f"{name:<12}{n:>8}{bad:>12}")
    failed = sum(bad for name, (_, bad) in counts.items() if name in ASSERTED)
    passed = sum(n - bad for name, (n, bad) in counts.items() if name in ASSERTED)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
