#!/usr/bin/env python3
"""No analysis contradicts itself: not of any trace at hand, nor of any mutant of one.

    test_consistency.py --strata BINARY DATA-FOLDER...

Builds with asserts check every finished analysis (src/analyze/compare/consistency.c) and end the
program where one figure contradicts another. So this runs commands on all traces below the folders,
in ../shared/traces and in what STRATA_MORE_TRACES names where they exist, and on mutants of the small
ones: events lost, times stretched and shifted, threads and streams merged or split. STRATA_MUTANTS=N
makes N times as many."""
import argparse
import copy
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from traces import find_traces

LARGEST = 8 << 20       # larger files are left to the release build
LARGEST_SOURCE = 150_000  # of mutants, packed
COMMANDS = [("report", "--json"), ("stages", "--all", "--json"), ("gaps", "--launches", "--json")]
ENDED_WELL = (0, 1, 2, 3)


def load(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as f:
        return json.load(f)


# ---- mutators: each changes the list of events in place ----

def is_span(e):
    return e.get("ph") == "X" and isinstance(e.get("ts"), (int, float)) and "dur" in e


def is_device(e):
    return e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")


def lose_events(events, rng):
    share = rng.choice((0.01, 0.1, 0.5))
    events[:] = [e for e in events if rng.random() > share]


def lose_a_category(events, rng):
    cats = sorted({str(e.get("cat")) for e in events})
    gone = rng.choice(cats)
    events[:] = [e for e in events if str(e.get("cat")) != gone]


def stretch_some(events, rng):
    for e in events:
        if is_span(e) and rng.random() < 0.05:
            e["dur"] = round(float(e["dur"]) * rng.choice((0, 0.1, 3, 50)), 3)


def shift_devices(events, rng):
    by = rng.choice((-500.0, -20.0, 20.0, 5000.0))
    for e in events:
        if is_span(e) and is_device(e):
            e["ts"] = float(e["ts"]) + by


def merge_threads(events, rng):
    for e in events:
        if is_span(e) and not is_device(e) and rng.random() < 0.5:
            e["tid"] = 1


def split_threads(events, rng):
    for e in events:
        if is_span(e) and not is_device(e) and isinstance(e.get("tid"), int):
            e["tid"] += rng.randrange(3)


def split_streams(events, rng):
    for e in events:
        if is_span(e) and is_device(e):
            stream = rng.choice((7, 13, 20))
            e["tid"] = stream
            e.setdefault("args", {})["stream"] = stream


def split_devices(events, rng):
    for e in events:
        if is_span(e) and is_device(e):
            device = rng.randrange(2)
            e["pid"] = device
            e.setdefault("args", {})["device"] = device


def repeat_events(events, rng):
    again = [dict(e, ts=float(e["ts"]) + rng.uniform(0, 300)) for e in events
             if is_span(e) and rng.random() < 0.1]
    events.extend(copy.deepcopy(again))


def whole_microseconds(events, rng):
    for e in events:
        if is_span(e):
            e["ts"], e["dur"] = int(float(e["ts"])), int(float(e["dur"]))


MUTATORS = (lose_events, lose_a_category, stretch_some, shift_devices, merge_threads, split_threads,
            split_streams, split_devices, repeat_events, whole_microseconds)


def mutant(trace, seed):
    """The trace with one to three mutations, and their names."""
    rng = random.Random(seed)
    trace = copy.deepcopy(trace)
    chosen = rng.sample(MUTATORS, rng.choice((1, 1, 2, 3)))
    for mutate in chosen:
        mutate(trace["traceEvents"], rng)
    return trace, "+".join(m.__name__ for m in chosen)


# ---- running ----

def run(strata, *args):
    """What is wrong with a command, or ''."""
    done = subprocess.run([strata, *map(str, args)], stdin=subprocess.DEVNULL, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
    if done.returncode in ENDED_WELL:
        return ""
    return f"exit status {done.returncode}: {done.stderr[:1500].decode(errors='replace')}"


def check_trace(strata, path, other=None):
    wrong = [run(strata, c[0], path, *c[1:]) for c in COMMANDS]
    if other:
        wrong.append(run(strata, "diff", "--allow-untrusted", "--json", other, path))
    return [w for w in wrong if w]


def more_folders():
    root = Path(__file__).resolve().parents[2]
    named = os.environ.get("STRATA_MORE_TRACES", "").split(os.pathsep)
    folders = [root.parent / "shared/traces", *(Path(n) for n in named if n)]
    return [f for f in folders if f.is_dir()]


def small_sources(traces):
    """Traces that mutants are made of: small ones with events in them."""
    for path in traces:
        if path.stat().st_size <= LARGEST_SOURCE:
            trace = load(path)
            if isinstance(trace, dict) and trace.get("traceEvents"):
                yield path, trace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strata", required=True)
    parser.add_argument("folders", nargs="+", type=Path)
    args = parser.parse_args()
    times = int(os.environ.get("STRATA_MUTANTS", "1"))
    passed = failed = 0

    def tell(name, wrong):
        nonlocal passed, failed
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"{name}: {wrong[0]}", flush=True)

    own = find_traces(args.folders)
    for path in own + find_traces(more_folders()):
        if path.stat().st_size <= LARGEST:
            tell(path, check_trace(args.strata, path, own[0]))
    with tempfile.TemporaryDirectory() as folder:
        for path, trace in small_sources(own):
            for seed in range(times * 3):
                changed, how = mutant(trace, f"{path.name} {seed}")
                file = Path(folder, "mutant.json")
                file.write_text(json.dumps(changed))
                tell(f"{path}, mutant {seed} ({how})", check_trace(args.strata, file, path))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
