#!/usr/bin/env python3
"""How often a planted reason why the host is late is named, on a GPU that is not there (tests/capture).

    bench/host_late.py --build build [--rounds 5] [--out bench/host_late.csv]

Each round plants a core that others use, page faults, Python's lock held by another thread and, where a
cgroup can be made, its limit; and runs a healthy program. A planted reason counts as named where it has at
least LEAST of the idle time; a healthy program has a false one where a reason of its own doing (page faults,
the lock) has that much. Cores may be missing on a busy machine whatever the program does. The programs are
those of tests/python/test_host_stalls.py."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
LEAST = 0.1


def run(build, program, folder, **env):
    """Idle time by cause."""
    libraries = folder / "lib"
    libraries.mkdir(exist_ok=True)
    for name, file in {"libcuda.so.1": "libcuda.so.1", "libcupti.so.13": "libcupti.so.13.fake"}.items():
        (libraries / name).unlink(missing_ok=True)
        (libraries / name).symlink_to(build / "tests" / "capture" / file)
    script, out = folder / "late.py", tempfile.mkdtemp(dir=folder)
    script.write_text(program)
    strata = str(build / "src" / "strata")
    subprocess.run([strata, "run", "-o", out, "--level", "timeline", "--", sys.executable, str(script)],
                   check=True, capture_output=True,
                   env={**os.environ, "LD_LIBRARY_PATH": str(libraries), "APP_CUPTI": "libcupti.so.13",
                        **env})
    (found,) = Path(out).glob("*/*")
    told = subprocess.run([strata, "gaps", "--whole", "--json", str(found)], check=True, capture_output=True)
    idle = {}
    for cause in json.loads(told.stdout)["causes"]:
        idle[cause["kind"]] = idle.get(cause["kind"], 0) + cause["idle_us"]
    return idle


def share(idle, kind):
    """Of the idle time, without what other programs took of it."""
    rest = sum(us for k, us in idle.items() if k == kind or k not in ("no_core", "throttled"))
    return idle.get(kind, 0) / rest if rest else 0


def cgroup():
    """A folder of one that may use 5 % of a core, or None."""
    for root, files in (("/sys/fs/cgroup", {"cpu.max": "5000 100000"}),
                        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "5000"})):
        folder = Path(root) / f"strata-bench-{os.getpid()}"
        if not (Path(root) / "cgroup.procs").exists():
            continue
        try:
            folder.mkdir()
            for name, text in files.items():
                (folder / name).write_text(text)
            return folder
        except OSError:
            if folder.exists():
                folder.rmdir()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    os.environ["STRATA_BUILD"] = str(args.build.resolve())
    sys.path.insert(0, str(TOP / "tests" / "python"))
    import test_host_stalls as planted
    limit = cgroup()
    cases = {"no_core": planted.HOG, "page_faults": planted.FAULTS, "gil": planted.GIL}
    if limit:
        cases["throttled"] = planted.THROTTLED
    rows, named, false = [], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        def idle_of(text):
            program = textwrap.dedent(planted.HEAD) + textwrap.dedent(text)
            return run(args.build.resolve(), program, Path(scratch), TEST_CGROUP=str(limit or ""))
        for number in range(args.rounds):
            for kind, text in cases.items():
                part = share(idle_of(text), kind)
                named += part >= LEAST
                rows.append([number, kind, round(part, 3), "named" if part >= LEAST else "missed"])
                print(*rows[-1], flush=True)
            idle = idle_of(planted.HEALTHY)
            part = max(share(idle, kind) for kind in ("page_faults", "gil"))
            false += part >= LEAST
            rows.append([number, "healthy", round(part, 3), "false" if part >= LEAST else "none"])
            print(*rows[-1], flush=True)
    if limit:
        limit.rmdir()
    n = args.rounds * len(cases)
    print(f"{named} of {n} planted reasons named, {false} false in {args.rounds} healthy runs")
    if args.out:
        with args.out.open("w", newline="") as f:
            out = csv.writer(f)
            out.writerows([["round", "planted", "share", "result"], *rows])


if __name__ == "__main__":
    main()
