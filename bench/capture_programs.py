#!/usr/bin/env python3
"""What recording a timeline costs whole programs that the CPU holds up, on a machine with an NVIDIA
GPU.

    bench/capture_programs.py --build build [--seconds 20] [--block MS] [--profiler|--cupti] [--cpu] NAME...

Programs are those of bench/advice: sdxl, train, generate, loader; layers, 40 small layers of torch; and
compiled, torch.compile with mode="reduce-overhead". In one process, with recording off and on
alternately, unit by unit; with --profiler instead without and under torch.profiler, which wants a process
of its own, as does --cupti: CUPTI's records of kernels, copies and fills alone, which are not read. What a
timeline costs more than that is our own part. A row per program: the medians, and the median of the ratios
to the mean of both neighbours, with quartiles: a host is not equally fast all the time, and the closer
together two units are the less of that is between them. With --block units are made in blocks of at least
that long, which then contain the fetching of records, every 100 ms. """
import argparse
import csv
import ctypes
import math
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "advice"), str(HERE / "advice" / "cases")]
sys.path += filter(None, os.environ.get("ADVICE_PACKAGES", "").split(os.pathsep))

NO_PYTHON = {"STRATA_PYTHON_STACKS": "off", "STRATA_TEST_DERIVED": "off"}


class Ways:
    """How a unit may be run: each is a context around it."""

    def __init__(self, args):
        self.profiler, self.stops = args.profiler, []
        self.cupti = Cupti() if args.cupti else None
        if not args.profiler and not args.cupti:
            sys.path.insert(0, str(args.build.resolve() / "python"))
            os.environ.update(STRATA_TABLE="off", STRATA_RUN=tempfile.mkdtemp())

    def names(self, which):
        if self.profiler:
            return ["torch.profiler"]
        if self.cupti:
            return ["CUPTI's records alone"]
        return ["timeline", "a timeline without the Python side"] if which == "sdxl" else ["timeline"]

    def run(self, name, measure):
        if name == "torch.profiler":
            return self.profiled(measure)
        if self.cupti:
            return self.cupti.recorded(measure)
        return self.recorded(measure, NO_PYTHON if name != "timeline" else {})

    def recorded(self, measure, env):
        import strata
        os.environ.update(env)
        part = strata.timeline(ops="off" if env else None, depth=0)
        part.__enter__()
        try:
            return measure()
        finally:
            begun = time.perf_counter()
            part.__exit__(None, None, None)
            self.stops.append(time.perf_counter() - begun)
            for key in env:
                del os.environ[key]

    def profiled(self, measure):
        import torch
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=kinds):
            return measure()


class Cupti:
    """CUPTI's activity records, into buffers that are not read."""
    KERNEL, COPY, FILL = 10, 1, 2
    BYTES, MOST = 4 << 20, 64

    def __init__(self):
        import torch
        if torch.cuda.is_available():
            torch.ones(1, device="cuda")
        with open("/proc/self/maps", encoding="utf-8") as maps:
            found = {line.split()[-1] for line in maps if "libcupti" in line}
        if not found:
            raise SystemExit("this torch has loaded no libcupti")
        self.library = ctypes.CDLL(found.pop())
        self.free = [ctypes.create_string_buffer(self.BYTES + 8) for _ in range(self.MOST)]
        self.lent = {}
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        wanted = ctypes.CFUNCTYPE(None, *map(ctypes.POINTER, (pointer, size, size)))
        done = ctypes.CFUNCTYPE(None, pointer, ctypes.c_uint32, pointer, size, size)
        self.kept = wanted(self.lend), done(self.take_back)
        self.must(self.library.cuptiActivityRegisterCallbacks(*self.kept))

    def must(self, status):
        if status:
            raise SystemExit(f"CUPTI error {status}")

    def lend(self, ret, size, most):
        buffer = self.free.pop()
        at = (ctypes.addressof(buffer) + 7) & ~7
        self.lent[at] = buffer
        ret[0], size[0], most[0] = at, self.BYTES, 0

    def take_back(self, context, stream, at, size, valid):
        buffer = self.lent.pop(at, None)
        if buffer is not None:
            self.free.append(buffer)

    def recorded(self, measure):
        for kind in (self.KERNEL, self.COPY, self.FILL):
            self.must(self.library.cuptiActivityEnable(kind))
        try:
            return measure()
        finally:
            for kind in (self.KERNEL, self.COPY, self.FILL):
                self.library.cuptiActivityDisable(kind)
            self.library.cuptiActivityFlushAll(0)


def layers(at):
    import torch
    from case import Case
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(40)])
    model = model.to(at.device).bfloat16().eval()
    x = at.randn(64, 256)

    def unit():
        with torch.no_grad():
            model(x)
    return Case("launch", unit, reps=4)


def compiled(at):
    import torch
    from case import Case
    layers = [torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()) for _ in range(at.size(20, 2))]
    model = torch.nn.Sequential(*layers).to(at.device).bfloat16().eval()
    fast, x = at.compile(model, mode="reduce-overhead"), at.randn(64, 512)

    def unit():
        with torch.no_grad():
            for _ in range(50):
                fast(x)
    return Case("launch", unit, reps=4)


def build(which, at):
    if which in ("compiled", "layers"):
        return {"compiled": compiled, "layers": layers}[which](at)
    names = {"sdxl": "sdxl_unet", "train": "gpt2_train", "generate": "llama_generate",
             "loader": "loader_no_workers"}
    return __import__(names[which]).build(at)


PROGRAMS = ("sdxl", "train", "generate", "loader", "compiled", "layers")
SMALL_CALLS = 20  # after a switch: what it has to set up is not the unit's


def turns(which, at, ways, seconds, block_ms=0.0):
    """By name, a list of times with those of its neighbours without recording."""
    import torch
    case = build(which, at)
    wait = (lambda: None) if at.cpu else torch.cuda.synchronize
    small, units = torch.ones(8, device=at.device), 1

    def measure():
        for _ in range(SMALL_CALLS):
            small.add_(1)
        wait()
        begun = time.perf_counter()
        for _ in range(units):
            case.v0()
        wait()
        return (time.perf_counter() - begun) * 1e3 / units
    usual = min(measure() for _ in range(3))
    units = max(1, math.ceil(block_ms / usual))
    names = ways.names(which)
    for name in names:  # its own first time
        ways.run(name, measure)
    took = {name: [] for name in names}
    until, before = time.monotonic() + seconds, measure()
    while time.monotonic() < until or len(took[names[0]]) < 4:
        names.reverse()
        for name in names:
            with_it, after = ways.run(name, measure), measure()
            took[name].append((with_it, (before + after) / 2))
            before = after
    return took


def rows_of(which, took):
    without = [plain for pairs in took.values() for _, plain in pairs]
    yield [f"{which}: without", round(statistics.median(without), 3), "ms"]
    for name, pairs in took.items():
        more = [(a / b - 1) * 100 for a, b in pairs]
        low, middle, high = statistics.quantiles(more, n=4)
        yield [f"{which}: with {name}", round(statistics.median(a for a, _ in pairs), 3), "ms"]
        yield [f"{which}: added by {name}, {len(more)} pairs",
               f"{middle:+.1f} ({low:+.1f} to {high:+.1f})", "%"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", choices=PROGRAMS, metavar="PROGRAM")
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--block", type=float, default=0.0, metavar="MS", help="of units, at least")
    parser.add_argument("--profiler", action="store_true")
    parser.add_argument("--cupti", action="store_true")
    parser.add_argument("--cpu", action="store_true", help="small, to try this out")
    parser.add_argument("--out", type=Path, help="append to this CSV")
    args = parser.parse_args()
    ways = Ways(args)
    from case import Place
    at, found = Place(cpu=args.cpu, small=args.cpu), []
    for which in args.programs:
        for row in rows_of(which, turns(which, at, ways, args.seconds, args.block)):
            found.append(row)
            print(*row, flush=True)
    if ways.stops:
        found.append(["switching off, the longest of all", round(max(ways.stops) * 1e3, 1), "ms"])
        print(*found[-1], flush=True)
    if args.out:
        with args.out.open("a", newline="") as f:
            csv.writer(f).writerows(["H200", 10, *row, "", ""] for row in found)
    sys.stdout.flush()
    os._exit(0)  # without waiting for loaders and compilers


if __name__ == "__main__":
    main()
