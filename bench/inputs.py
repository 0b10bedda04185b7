"""inputs.py: large traces made of a real one, repeated in time.

Each copy is shifted behind the one before it, and its correlation, external and flow ids are kept
apart from theirs, so that the result is a valid trace of the same program running N times."""
import gzip
import json
import shutil
import subprocess

IDS = ("correlation", "External id")


def load(path):
    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    with opener(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def largest(events, key):
    ids = (e.get("args", {}).get(key, 0) for e in events)
    return max((i for i in ids if isinstance(i, int)), default=0)


def shifted(event, ts, steps):
    """A copy of `event`, `ts` later, its ids moved on by `steps`."""
    event = dict(event, ts=round(event["ts"] + ts, 3))
    if isinstance(event.get("id"), int):
        event["id"] += steps["correlation"]
    args = event.get("args")
    if args and any(key in args for key in IDS):
        event["args"] = args = dict(args)
        for key in IDS:
            if isinstance(args.get(key), int) and args[key]:
                args[key] += steps[key]
    return event


def repeat(source, path, least_bytes):
    """Writes the trace `source` to `path`, as often as makes at least `least_bytes`."""
    trace = load(source)
    events = trace.pop("traceEvents")
    meta = [e for e in events if e.get("ph") == "M"]
    rest = [e for e in events if e.get("ph") != "M" and e.get("cat") != "Trace"]
    spans = [e for e in rest if e.get("ph") == "X"]
    period = max(e["ts"] + e["dur"] for e in spans) - min(e["ts"] for e in spans) + 1000
    step = {key: largest(rest, key) + 1 for key in IDS}
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps(trace)[:-1] + ', "traceEvents": [\n')
        f.write(",\n".join(json.dumps(e) for e in meta))
        copies = 0
        while f.tell() < least_bytes:
            now = {key: copies * step[key] for key in IDS}
            for e in rest:
                f.write(",\n" + json.dumps(shifted(e, copies * period, now)))
            copies += 1
        f.write("\n]}\n")
    return copies


def make(source, folder, name, least_bytes):
    """The plain and the gzipped input of a size; made once and kept."""
    plain, packed = folder / f"{name}.json", folder / f"{name}.json.gz"
    if not plain.exists():
        print(f"bench: making {plain}", flush=True)
        part = plain.with_suffix(".part")
        repeat(source, part, least_bytes)
        part.rename(plain)
    if not packed.exists():
        print(f"bench: making {packed}", flush=True)
        part = packed.with_suffix(".part")
        with open(part, "wb") as f:
            subprocess.run(["gzip", "-6", "-c", plain], stdout=f, check=True)
        shutil.move(part, packed)
    return plain, packed
