"""Several variants of a call against each other, measured alternately: eager and compiled, another
entry, another commit. `stats` says whether they differ; with --trace `strata diff` says in what."""
from __future__ import annotations

import functools
import random
import subprocess
import time
from typing import Any

import torch

from strata._base import command, device
from strata._pipeline import single_call
from strata.bench import clocks, files, find, modes, stats, timeline
from strata.bench.errors import USAGE, BenchError, say
from strata.bench.revision import Revision
from strata.bench.run import (
    BENCH_SECONDS,
    CLOCK_EVERY,
    METRICS,
    Options,
    device_name,
    entry_of,
    load,
    times_of,
)
from strata.bench.signatures import SignatureFile
from strata.bench.variants import Stage, Variant, whole

COMPARE_SECONDS = 30.0
DEVICE_TIMES = 5  # calls of which device time is shown where it does not decide
TRIALS = 15  # calls that show how noisy the machine is


class Line:
    """The variants of a comparison, and what has to be undone when it is over."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.variants: list[Variant] = []
        self.switch: modes.Switch | None = None
        self.revision: Revision | None = None
        self.device = "cpu"

    def add_modes(self, variant: Variant, wanted: list[modes.Mode], modules: list[Any]) -> None:
        """The same call in several modes."""
        if not modules and any(m.compiles for m in wanted):
            raise BenchError("the call uses no torch module that could be compiled", USAGE)
        self.switch = modes.Switch(modules, self.options.regional, self.options.fullgraph)
        for mode in wanted:
            self.switch.add(mode)
        for mode in wanted:
            call = modes.Stepped(variant.call) if mode.compiles else variant.call
            made = Variant(mode.name, call, variant.mode)
            made.begin = functools.partial(self.switch.set, mode)
            made.end = self.switch.restore
            self.variants.append(made)

    def add_revision(self, revision: str, beside: str) -> Revision:
        """Another commit of the tree that the file lies in."""
        self.revision = Revision(revision, beside)
        return self.revision

    def close(self) -> None:
        if self.switch is not None:
            self.switch.restore()
        if self.revision is not None:
            self.revision.remove()


def compare_stage(path: str, stage: str, options: Options) -> dict[str, Any]:
    """A stage in two variants."""
    recorded = SignatureFile(path)
    signature = recorded.choose(stage, options.signature)[0]
    entry = find.entry(entry_of(options))
    root = load(entry, options.choice.device)
    first = Stage(root, signature, options.choice)
    line = Line(options)
    line.device = first.device

    def other(text: str, name: str) -> Variant:
        root = load(find.entry(text), options.choice.device)
        return Stage(root, signature, options.choice).variant(name)

    base = first.variant(entry_of(options))
    try:
        _add_variants(line, base, entry, other)
        folder = files.Folder(options.output, recorded.folder, stage)
        return {**race(line, stage, folder), "entry": options.entry, "path": signature.path}
    finally:
        line.close()


def bench_call(options: Options) -> dict[str, Any]:
    """The whole call, in several modes or variants."""
    text = entry_of(options)
    line = Line(options)
    base = Variant(text, whole(text, options.load, options.choice.seed))

    def other(text: str, name: str) -> Variant:
        return Variant(name, whole(text, options.load, options.choice.seed))

    try:
        _add_variants(line, base, find.entry(text), other)
        with line.variants[0].active():
            line.variants[0].call.prepare()
            line.variants[0].call()
        line.device = options.choice.device or used_device()
        folder = files.Folder(options.output, None, text.partition(":")[0])
        return {**race(line, text, folder), "entry": text}
    finally:
        line.close()


def used_device() -> str:
    """The device the program has begun to use."""
    found = device.find()
    return found.kind if found is not None else "cpu"


def _add_variants(line: Line, base: Variant, entry: find.Entry, other: Any) -> None:
    """What --modes or --compare asks for, after `base`."""
    options = line.options
    wanted = options.modes
    if options.compare is not None and modes.is_mode(options.compare):
        wanted = f"{wanted or 'eager'},{options.compare}"
    if wanted is not None:
        parsed = modes.parse(wanted)
        with base.active():
            modules = modes.called_modules(lambda: (base.call.prepare(), base.call()))
        line.add_modes(base, parsed, modules)
        return
    line.variants.append(base)
    if options.compare is None:
        return
    if _is_entry(options.compare):
        line.variants.append(other(options.compare, _other_name(options.compare, base.name)))
        return
    revision = line.add_revision(options.compare.removeprefix("git:"), str(entry.module.__file__))
    revision.enter()
    try:
        made = other(entry.text, f"{revision.name} ({revision.commit})")
    finally:
        revision.leave()
    made.begin, made.end = revision.enter, revision.leave
    base.name = "as it is"
    line.variants.append(made)


def _other_name(text: str, taken: str) -> str:
    return text if text != taken else f"{text} again"


def _is_entry(text: str) -> bool:
    module, colon, name = text.partition(":")
    return bool(colon) and module != "git" and name.replace(".", "").isidentifier() and all(
        word.isidentifier() for word in module.removesuffix(".py").replace("/", ".").split("."))


def race(line: Line, name: str, folder: files.Folder | None = None) -> dict[str, Any]:
    """Warms all variants up, measures them alternately, and judges."""
    options, variants = line.options, line.variants
    tell = say if options.progress and len(variants) > 1 else _nothing
    if options.metric == "gpu" and torch.device(line.device).type == "cpu":
        raise BenchError(f"--metric {options.metric}: there is no device to measure it on", USAGE)
    watch = clocks.Clocks(line.device)
    seconds = options.seconds or (COMPARE_SECONDS if len(variants) > 1 else BENCH_SECONDS)
    for v in variants:
        tell(f"warming {v.name} up" + (", which compiles first" if v.name.startswith("compile") else ""))
        v.start(line.device, options.warmup)
    tell(f"measuring {len(variants)} alternately, for at most {seconds:.0f} s")
    batch = min(v.watch.batch for v in variants)
    for v in variants:
        v.watch.batch = batch
    contest = stats.Race(len(variants), options.threshold_pct)
    metric, best_of = _run(contest, line, watch, seconds)
    result = {
        "kind": "compare" if len(variants) > 1 else "call", "name": name, "device": line.device,
        "device_name": device_name(line.device), "metric": metric,
        "seed": options.choice.seed, "regional": options.regional, "fullgraph": options.fullgraph,
        "compiled": [type(m).__name__ for m in line.switch.modules] if line.switch else [],
        "variants": [_variant(v) for v in variants],
        "best_of": best_of,
        "comparisons": [_comparison(contest, variants, i, best_of) for i in range(1, len(variants))],
        "clocks": watch.as_dict(), "remarks": watch.words(), "files": {},
    }
    if options.trace and folder is not None:
        _take_traces(result, line, name, folder)
    return result


def _nothing(text: str) -> None:
    """Of what programs measure themselves they want the result."""


def decided_on(trial: list[dict[str, float]], has_device: bool, best_of: int) -> str:
    """The metric that decides, unless it is given: the time until the call is done. If calls are
    disturbed while they compute on one processor, they wait for it; then the processor time is the
    better metric."""
    computes = min(s["cpu_ms"] for s in trial) <= 1.3 * min(s["wall_ms"] for s in trial)
    return "cpu" if best_of > 1 and not has_device and computes else "wall"


def _run(contest: stats.Race, line: Line, watch: clocks.Clocks, seconds: float) -> tuple[str, int]:
    """Measures until it is settled or the time is over; (what it was decided on, how many calls a
    round took the best of)."""
    options, variants = line.options, line.variants
    first = variants[0]
    for _ in range(TRIALS):
        first.sample()
    trial = [s["wall_ms"] * first.watch.batch for s in first.samples]
    fixed, best_of = options.iterations, 1
    if len(variants) > 1 and fixed is None:
        best_of = stats.best_of(trial, len(variants), seconds)
    elif fixed is None:
        fixed = max(3, min(stats.MOST_PAIRS, int(seconds * 1e3 / max(stats.median(trial), 1e-3))))
    has_device = first.watch.device is not None
    metric = options.metric or decided_on(first.samples, has_device, best_of)
    key = f"{metric}_ms"
    best_of = 1 if metric == "cpu" and not has_device else best_of
    first.samples.clear()
    deadline = time.perf_counter() + seconds

    def ends(done: int) -> bool:
        if done % CLOCK_EVERY == 0:
            watch.sample()
        return done >= 3 and time.perf_counter() > deadline

    shuffle = random.Random(options.choice.seed).shuffle
    watch.sample()
    contest.run(lambda i: variants[i].sample(key), shuffle, ends, fixed, best_of)
    watch.sample()
    for v in variants:
        v.add_device_times(DEVICE_TIMES)
    return metric, best_of


def _variant(v: Variant) -> dict[str, Any]:
    return {"name": v.name, "times": times_of(v), "measurements": len(v.samples),
            "batch": v.watch.batch, "warmup": {"calls": v.warmup[0], "steady": v.warmup[1]}}


def _comparison(contest: stats.Race, variants: list[Variant], i: int,
                best_of: int) -> dict[str, Any]:
    a, b = variants[0], variants[i]
    also = {}
    for metric in METRICS if best_of == 1 else ():
        columns = a.column(f"{metric}_ms"), b.column(f"{metric}_ms")
        if all(len(c) == len(v.samples) for c, v in zip(columns, (a, b))):
            also[metric] = stats.Verdict(stats.estimate(*columns), contest.threshold_pct).as_dict()
    return {"before": a.name, "after": b.name, **contest.verdict(i).as_dict(), "metrics": also,
            "outputs": difference(a.kept, b.kept)}


def difference(ours: list[Any], theirs: list[Any]) -> dict[str, Any]:
    """Whether the tensors of two results hold the same numbers, and by how much they differ."""
    if [t.shape for t in ours] != [t.shape for t in theirs]:
        return {"same_shapes": False, "largest_difference": None, "relative_difference": None}
    largest, scale = 0.0, 0.0
    for x, y in zip(ours, theirs):
        if x.numel() and x.dtype.is_floating_point:
            x, y = x.detach().double().cpu(), y.detach().double().cpu()
            largest = max(largest, float((x - y).abs().max()))
            scale = max(scale, float(x.abs().max()))
    return {"same_shapes": True, "largest_difference": largest,
            "relative_difference": largest / scale if scale else 0.0}


def _take_traces(result: dict[str, Any], line: Line, name: str, folder: files.Folder) -> None:
    stem = files.clean(name.replace(":", "_"))
    traces = []
    for v in line.variants:
        path = folder.new(f"{stem}_{v.name.replace(':', '_')}_trace", ".json.gz")
        with v.active():
            single_call.record(v.call, stem).export_chrome_trace(path)
        traces.append(path)
    result["files"]["traces"] = traces
    result["diffs"] = [diff(traces[0], t) for t in traces[1:]]


def diff(before: str, after: str) -> dict[str, Any]:
    """What `strata diff` says about two traces, for people and for programs."""
    program = command.program()
    if program is None:
        say("cannot compare the traces: the strata command is not installed")
        return {}
    done = subprocess.run([program, "diff", before, after], capture_output=True, text=True,
                          check=False, timeout=600)
    return {"before": before, "after": after, "text": done.stdout or done.stderr,
            **timeline.ask("diff", before, after)}
