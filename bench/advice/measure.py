#!/usr/bin/env python3
"""Measures the cases on the GPU of this machine: what each fix is worth, and traces of the unfixed.

    measure.py --out DIR [CASE...] [--folder more] [--part 1/2] [--seconds 6] [--rounds N] [--deadline 560]
               [--phases time,strata,light,full] [--ahead 1] [--strata build/src/strata]
               [--wheels FOLDER] [--cpu --small]

Each case runs in a process of its own under a time limit (worker.py); one that fails is reported and
left out. DIR/advice.json is written after every case, and DIR/traces_N.tar at the end: shards of at
most 15 MiB, 4 of them; what does not fit is dropped, the largest first, and named.
"""
import argparse
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDERS = ("cases", "held", "more", "later")
SHARD_BYTES = 15 << 20
PACK_S = 12  # what packing may take, and the end


def all_cases(folders=FOLDERS):
    return sorted(path.stem for folder in folders for path in (HERE / folder).glob("*.py"))


def unpack(wheels, where):
    """Packages carried along as wheels, for a machine that can install nothing."""
    tags = "py3-none-any", "cp{}{}-".format(*sys.version_info)
    for wheel in sorted(Path(wheels).glob("*.whl")):
        if not any(tag in wheel.name for tag in tags):
            continue
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(where)
    return str(where)


class Running:
    """A worker: imports at once, measures when it is told to go."""

    def __init__(self, name, args, phases=None):
        command = [sys.executable, str(HERE / "worker.py"), name, str(args.work),
                   "--seconds", str(args.seconds), "--phases", phases or args.phases]
        command += ["--rounds", str(args.rounds)] if args.rounds else []
        command += [flag for flag in ("--cpu", "--small") if getattr(args, flag[2:])]
        command += ["--strata", args.strata] if args.strata else []
        self.name, self.said = name, b""
        self.log = open(args.work / f"{name}.log", "ab")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, start_new_session=True, env=args.env)

    def go(self):
        try:
            self.process.stdin.write(b"go\n")
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it ended while importing, and has said why

    def says(self, word, until):
        """Waits for a word or the end of the process; False at the end of the time."""
        while word not in self.said:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return False
            more = os.read(self.process.stdout.fileno(), 4096)
            if not more:
                return True
            self.said += more
        return True

    def end(self, until):
        """Until it is over; killed with all it started when the time is."""
        in_time = self.says(b"\0", until)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()
        return in_time


class Measuring:
    def __init__(self, args):
        self.args, self.end = args, time.monotonic() + args.deadline
        self.results, self.missing = [], []

    def known(self, name):
        file = self.args.work / f"{name}.json"
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            return {"case": name, "notes": []}

    def export(self, known):
        """A recording of ours becomes one file."""
        trace = known.get("traces", {}).get("strata")
        if not trace or "file" in trace:
            return
        path = self.args.work / f"{known['case']}.strata"
        done = subprocess.run([self.args.strata, "export", trace["folder"], "-o", str(path)],
                              capture_output=True, text=True)
        if done.returncode:
            known["notes"].append(f"no recording: {done.stderr.strip()[:300]}")
            known["traces"].pop("strata")
            return
        packed = self.args.work / f"{known['case']}.strata"
        trace.update(file=packed.name, bytes=packed.stat().st_size)
        trace.pop("folder")

    def finish(self, worker, in_time):
        known = self.known(worker.name)
        if not in_time:
            known["notes"].append(f"stopped in {known.get('phase', 'importing')}: out of time")
        elif known.get("phase") not in ("done", "failed"):
            known["notes"].append(f"died in {known.get('phase', 'importing')}: {self.last_words(worker)}")
        try:
            self.export(known)
        except (OSError, subprocess.SubprocessError) as why:
            known["notes"].append(f"no recording: {why}")
        (self.args.work / f"{worker.name}.json").write_text(json.dumps(known, indent=1))
        return known

    def last_words(self, worker):
        lines = (self.args.work / f"{worker.name}.log").read_text(errors="replace").strip().splitlines()
        return (lines or ["no output"])[-1][:300]

    def one(self, worker, after):
        """Runs worker; after is started when the timings are made."""
        until = min(time.monotonic() + self.args.limit, self.end - PACK_S)
        worker.go()
        worker.says(b"timed", until)
        after()
        known = self.finish(worker, worker.end(until))
        if known.get("phase") == "strata" and "variants" in known:  # the recorder was its end
            again = Running(worker.name, self.args, "light,full" if "full" in self.args.phases else "light")
            again.go()
            known = self.finish(again, again.end(min(time.monotonic() + self.args.limit,
                                                     self.end - PACK_S)))
        self.add(known)

    def add(self, known):
        if "variants" in known or ("time" not in self.args.phases and known.get("traces")):
            self.results.append(known)
        else:
            self.missing.append({"case": known["case"], "why": "; ".join(known["notes"]) or "unknown"})
        gains = {k: v["gain_pct"] for k, v in known.get("variants", {}).items() if k != "v0"}
        base = known.get("variants", {}).get("v0", {}).get("median_ms", "not measured")
        print(f"{self.end - time.monotonic():5.0f} s left  {known['case']}: {base} ms, gains {gains}, "
              f"{sorted(known.get('traces', {}))} {'; '.join(known['notes'])}", flush=True)
        self.write()

    def write(self, **more):
        text = json.dumps({"cases": self.results, "missing": self.missing, **more}, indent=1)
        partial = self.args.out / ".advice.json"
        partial.write_text(text)
        partial.rename(self.args.out / "advice.json")

    def run(self, names):
        """Workers import while those before them are recorded, `ahead` of them at most."""
        names, waiting = list(names), []

        def following():
            while names and len(waiting) < self.args.ahead:
                waiting.append(Running(names.pop(0), self.args))
        following()
        while waiting and self.end - time.monotonic() >= PACK_S + 20:
            self.one(waiting.pop(0), following)
        for worker in waiting:
            worker.end(0)
        self.missing += [{"case": name, "why": "no time left"}
                         for name in [worker.name for worker in waiting] + names]

    def pack(self):
        """Into shards; light traces first, so that every case has one."""
        traces = [(order, t["bytes"], t["file"]) for known in self.results
                  for order, which in enumerate(("light", "strata", "full"))
                  for t in [known["traces"].get(which)] if t and "file" in t]
        room, shards, dropped = [0] * self.args.shards, [], []
        for _, size, file in sorted(traces):
            fits = [i for i in range(len(room)) if room[i] + size + 2048 <= SHARD_BYTES - 16384]
            if not fits:
                dropped.append(f"{file} ({size} bytes)")
                continue
            while len(shards) <= fits[0]:
                shards.append(tarfile.open(self.args.out / f"traces_{len(shards) + 1}.tar", "w"))
            room[fits[0]] += size + 2048
            shards[fits[0]].add(self.args.work / file, file)
        for shard in shards:
            shard.close()
        if dropped:
            print("dropped, no room:", ", ".join(dropped))
        self.write(dropped=dropped)


def chosen(args):
    unknown = set(args.cases) - set(all_cases())
    if unknown:
        sys.exit(f"measure.py: no such case: {', '.join(sorted(unknown))}")
    part, parts = map(int, args.part.split("/"))
    return (args.cases or all_cases(args.folder or FOLDERS))[part - 1::parts]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="all cases of this folder only")
    parser.add_argument("--part", default="1/1", help="which part of the cases: 1/2, 2/2")
    parser.add_argument("--seconds", type=float, default=6, help="of timing per case")
    parser.add_argument("--rounds", type=int, help="of timing at least, instead of what the case says")
    parser.add_argument("--phases", default="time,strata,light,full")
    parser.add_argument("--ahead", type=int, default=1, help="processes that import ahead of their turn")
    parser.add_argument("--limit", type=float, default=120, help="seconds per case in total")
    parser.add_argument("--deadline", type=float, default=560, help="seconds for everything")
    parser.add_argument("--strata", default="build/src/strata")
    parser.add_argument("--wheels", help="a folder of wheels to unpack and use")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--list", action="store_true", help="the names of all cases")
    return parser.parse_args()


def main():
    args = arguments()
    if args.list:
        return print("\n".join(all_cases()))
    args.out.mkdir(parents=True, exist_ok=True)
    if not Path(args.strata).exists():
        print(f"measure.py: {args.strata} is not built: no recordings of ours")
        args.strata = None
    with tempfile.TemporaryDirectory(prefix="advice_") as folder:
        args.work = Path(folder)
        args.env = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
                    "TORCHINDUCTOR_CACHE_DIR": str(args.work / "inductor")}
        if args.wheels:
            args.env["ADVICE_PACKAGES"] = unpack(args.wheels, args.work / "packages")
        measuring = Measuring(args)
        try:
            measuring.run(chosen(args))
        finally:
            measuring.pack()
            logs = args.out / "advice.log"
            with logs.open("wb") as out:
                for log in sorted(args.work.glob("*.log")):
                    out.write(b"==== " + log.name.encode() + b"\n")
                    with log.open("rb") as one:
                        shutil.copyfileobj(one, out, 1 << 16)
    print(f"{len(measuring.results)} measured, {len(measuring.missing)} not")


if __name__ == "__main__":
    main()
