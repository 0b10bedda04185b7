#!/usr/bin/env python3
"""One case in a process of its own: times its variants alternately, then records v0. Started by
measure.py, which talks to it over standard input and output:

    worker.py CASE FOLDER [--cpu] [--small] [--seconds N] [--rounds N] [--phases time,strata,light,full]

"ready" when everything is imported; waits for a line; "timed" when the timings are written. What is
known so far is always in FOLDER/CASE.json.
"""
import argparse
import datetime
import importlib
import json
import os
import statistics
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "cases"), str(HERE / "held"), str(HERE / "more"), str(HERE / "later")]
for extra in filter(None, os.environ.get("ADVICE_PACKAGES", "").split(os.pathsep)):
    sys.path.append(extra)  # last: what is installed wins

from case import Place  # noqa: E402

UNITS_TO_WARM = 4
STRATA_S = 0.25  # a timeline of ours: users record seconds, and files have to stay small
INJECTED = "libstrata_inject.so"


def package_of(program):
    """The Python package beside the program: in a build folder, or where it was installed."""
    root = program and Path(program).resolve().parent.parent
    found = [*root.glob(f"python/strata/{INJECTED}"),
             *root.glob(f"lib*/**/strata/{INJECTED}")] if root else []
    return found[0].parent if found else None


def waiter(case, at):
    if case.wait is not None:
        return case.wait
    if at.cpu:
        return lambda: None
    import torch
    return torch.cuda.synchronize


def run(unit, n):
    for _ in range(n):
        unit()


def close(result, other):
    """The largest difference relative to the largest value; None where there is nothing to compare."""
    import torch
    if not (isinstance(result, torch.Tensor) and isinstance(other, torch.Tensor)):
        return None
    if result.shape != other.shape:
        return float("inf")
    a, b = result.detach().float(), other.detach().float()
    return ((a - b).abs().max() / a.abs().max().clamp_min(1e-12)).item()


class Worker:
    def __init__(self, args):
        self.args, self.folder = args, Path(args.folder)
        self.at = Place(args.cpu, args.small)
        self.file = self.folder / f"{args.case}.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.known.update(case=args.case, date=datetime.date.today().isoformat(),
                          python=sys.version.split()[0])
        self.known.setdefault("notes", [])
        self.known.setdefault("traces", {})

    def keep(self, **more):
        self.known.update(more)
        self.file.write_text(json.dumps(self.known, indent=1))

    def note(self, text):
        self.known["notes"].append(text)
        print(f"{self.args.case}: {text}", file=sys.stderr, flush=True)

    def failed(self, what, why):
        traceback.print_exc()
        self.note(f"{what}: {type(why).__name__}: {str(why)[:300]}")

    def build(self, module):
        self.case = module.build(self.at)
        self.case.rounds = self.args.rounds or self.case.rounds
        self.wait = waiter(self.case, self.at)
        self.known.update(kind=self.case.kind, n=self.case.n, seen_by=list(self.case.seen_by),
                          unforeseen=getattr(module, "unforeseen", False),
                          what=(module.__doc__ or "").strip())
        if "torch" in sys.modules:
            import torch
            self.known["torch"] = torch.__version__
            self.known["gpu"] = "CPU" if self.at.cpu else torch.cuda.get_device_name()
        self.warm()
        self.keep(fixes=[{"name": f.name, "says": f.says} for f in self.case.fixes])

    def warm(self):
        """Every variant a few times; a fix that does not run here, or differs, is left out."""
        first = self.case.v0()
        run(self.case.v0, UNITS_TO_WARM - 1)
        good = []
        for fix in self.case.fixes if "time" in self.args.phases else []:
            try:
                off = close(first, fix.unit())
                run(fix.unit, UNITS_TO_WARM - 1)
                self.wait()
            except Exception as why:
                self.failed(f"fix {fix.name} does not run", why)
                continue
            if off is not None and not off <= self.case.tolerance:
                self.note(f"fix {fix.name} computes something else: off by {off:.3g}")
                continue
            good.append(fix)
        if "time" in self.args.phases:
            self.case.fixes = good
        self.wait()

    def timed(self, unit):
        reps = self.case.reps or self.case.n
        run(unit, self.case.settle)
        self.wait()
        start = time.perf_counter()
        run(unit, reps)
        self.wait()
        return (time.perf_counter() - start) * 1e3 / reps

    def time(self):
        """Alternating, the order rotated, for as long as there is time and at least so many rounds."""
        units = {"v0": self.case.v0, **{f.name: f.unit for f in self.case.fixes}}
        names, taken = list(units), {name: [] for name in units}
        until, rounds = time.monotonic() + self.args.seconds, 0
        while rounds < self.case.rounds or (time.monotonic() < until and rounds < 60):
            for name in names[rounds % len(names):] + names[:rounds % len(names)]:
                taken[name].append(self.timed(units[name]))
            rounds += 1
        base = statistics.median(taken["v0"])
        self.keep(rounds=rounds, variants={name: self.summary(ms, taken["v0"], base)
                                           for name, ms in taken.items()})

    @staticmethod
    def summary(ms, v0, base):
        low, middle, high = statistics.quantiles(ms, n=4)
        gains = statistics.quantiles([(1 - a / b) * 100 for a, b in zip(ms, v0)], n=4)
        return {"median_ms": round(middle, 4), "quartiles_ms": [round(low, 4), round(high, 4)],
                "min_ms": round(min(ms), 4), "max_ms": round(max(ms), 4),
                "gain_pct": round((1 - middle / base) * 100, 1),
                "spread_pct": round(gains[2] - gains[0], 1)}

    def torch_profile(self, which):
        import torch
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if not self.at.cpu:
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        n = self.case.n_full or self.case.n if which == "full" else self.case.n
        how = dict(activities=kinds, record_shapes=True, with_stack=which == "full")
        with torch.profiler.profile(**how):  # the profiler's own first time
            run(self.case.v0, 1)
            self.wait()
        run(self.case.v0, self.case.settle)
        self.wait()
        with torch.profiler.profile(**how) as profiler:
            run(self.case.v0, n)
            self.wait()
        path = self.folder / f"{self.args.case}.{which}.json.gz"
        profiler.export_chrome_trace(str(path))
        self.known["traces"][which] = {"file": path.name, "bytes": path.stat().st_size, "units": n}
        self.keep()

    def units_of(self, seconds):
        """How many units take so long: at least as many as usual, at most eight times that."""
        begun = time.perf_counter()
        run(self.case.v0, self.case.settle)
        self.wait()
        fit = int(seconds * self.case.settle / (time.perf_counter() - begun))
        return max(self.case.n, min(8 * self.case.n, fit))

    def strata(self):
        """With strata.timeline(); measure.py exports the folder when this process is over."""
        package = package_of(self.args.strata)
        if package is None:
            return self.note("no recording: strata is not built")
        os.environ.update(STRATA_RUN=str(self.folder / f"{self.args.case}.run"), STRATA_TABLE="off")
        sys.path.insert(0, str(package.parent))
        import strata
        n = self.units_of(STRATA_S)
        with strata.timeline() as part:
            run(self.case.v0, n)
            self.wait()
        time.sleep(0.3)
        self.known["traces"]["strata"] = {"folder": str(part.folder), "units": n}
        self.keep()
        import ctypes
        # torch.profiler may have the device's records
        ctypes.CDLL(str(package / INJECTED)).strata_inject_stop()

    def phase(self, name):
        if name not in self.args.phases or (name != "time" and name not in self.case.recorders):
            return
        self.keep(phase=name)
        try:
            getattr(self, name)() if name in ("time", "strata") else self.torch_profile(name)
        except Exception as why:
            self.failed(name, why)
        self.keep()
        if name == "time":
            print("timed", flush=True)

    def go(self):
        module = importlib.import_module(self.args.case)
        print("ready", flush=True)
        sys.stdin.readline()
        self.build(module)
        for name in ("time", "strata", "light", "full"):
            self.phase(name)
        self.keep(phase="done")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case")
    parser.add_argument("folder")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--strata")
    parser.add_argument("--phases", type=lambda text: text.split(","), default="time,strata,light,full")
    worker = Worker(parser.parse_args())
    try:
        worker.go()
    except Exception as why:
        worker.failed("not measured", why)
        worker.keep(phase="failed")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # without waiting for loaders, compilers and drivers


if __name__ == "__main__":
    main()
