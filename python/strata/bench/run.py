"""One stage measured alone, from options to a result: a plain dictionary with the keys of
docs/format/json.md, which `screen` shows."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import torch

from strata._pipeline import single_call
from strata.bench import against, clocks, files, find, script, stats, timeline
from strata.bench.errors import USAGE, BenchError, from_program
from strata.bench.signatures import Signature, SignatureFile
from strata.bench.variants import Choice, Stage, Variant

METRICS = ("wall", "gpu", "cpu")
BENCH_SECONDS = 10.0
CLOCK_EVERY = 8  # measurements


@dataclass
class Options:
    """What the command line says."""

    entry: str | None = None
    load: str | None = None
    signature: str | None = None
    modes: str | None = None
    regional: bool = False
    fullgraph: bool = False
    compare: str | None = None
    metric: str | None = None  # of METRICS; None: wall, or see race.decided_on
    threshold_pct: float = 1.0
    trace: bool = False
    iterations: int | None = None
    seconds: float | None = None
    warmup: int | None = None
    against: str | None = None
    tolerance_pct: float = 3.0
    output: str | None = None
    progress: bool = False  # is reported on standard error
    choice: Choice = field(default_factory=Choice)


def device_name(device: str) -> str:
    """The name of the device, as its maker calls it."""
    kind = torch.device(device).type
    try:
        return getattr(torch, kind).get_device_properties(torch.device(device)).name
    except Exception:
        return _processor()


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            found = [line.partition(":")[2].strip() for line in f if line.startswith("model name")]
        return found[0] if found else "CPU"
    except OSError:
        return "CPU"


def times_of(variant: Variant) -> dict[str, Any]:
    """Statistics of every column that was measured."""
    return {m: stats.summary(variant.column(f"{m}_ms")) for m in METRICS
            if variant.column(f"{m}_ms")}


def bench_stages(path: str, stage: str, options: Options) -> list[dict[str, Any]]:
    """Every signature of the stage that was requested, each with its files."""
    recorded = SignatureFile(path)
    chosen = recorded.choose(stage, options.signature)
    entry = find.entry(entry_of(options))
    root = load(entry, options.choice.device)
    folder = files.Folder(options.output, recorded.folder, stage)
    return [_bench_stage(recorded, s, entry, root, folder, options) for s in chosen]


def entry_of(options: Options) -> str:
    """What --entry says; it is needed for everything but --list."""
    if options.entry is None:
        raise BenchError("give --entry MODULE:NAME, the function that returns the pipeline", USAGE)
    return options.entry


def load(entry: find.Entry, device: str | None) -> Any:
    """What the entry returns, on the device asked for."""
    root = entry.load()
    if device is not None and callable(getattr(root, "to", None)):
        try:
            root.to(device)
        except Exception as why:
            raise from_program(f"moving what --entry returned to {device}", why) from why
    return root


def _bench_stage(recorded: SignatureFile, signature: Signature, entry: find.Entry, root: Any,
                 folder: files.Folder, options: Options) -> dict[str, Any]:
    stage = Stage(root, signature, options.choice)
    variant = stage.variant(signature.stage)
    watch = clocks.Clocks(stage.device)
    variant.start(stage.device, options.warmup)
    watch.sample()
    with variant.active():
        variant.samples = single_call.measure(variant.watch, variant.call, options.iterations,
                                         options.seconds or BENCH_SECONDS, watch.sample)
    times = times_of(variant)
    trace = folder.new(f"{signature.stage}_trace", ".json.gz")
    with variant.active():
        single_call.record(variant.call, signature.stage).export_chrome_trace(trace)
    breakdown = timeline.break_down(trace, signature.stage)
    written = {"trace": trace, "breakdown": folder.new(f"{signature.stage}_breakdown", ".json")}
    files.write_json(written["breakdown"], {**breakdown, "times": times})
    result = {
        "kind": "stage", "stage": signature.stage, "path": signature.path, "entry": options.entry,
        "target": stage.target.described,
        "signature": {"index": signature.index, "of": signature.of,
                      "count": signature.found.get("count")},
        "device": stage.device, "device_name": device_name(stage.device),
        "inputs": _inputs(stage), "mode": signature.found.get("mode", {}),
        "seed": options.choice.seed,
        "warmup": {"calls": variant.warmup[0], "steady": variant.warmup[1]},
        "measurements": len(variant.samples), "batch": variant.watch.batch, "times": times,
        "clocks": watch.as_dict(), "remarks": watch.words(), "notes": stage.notes,
        "against": _check(recorded, stage, variant, times, trace, options),
        "breakdown": breakdown, "files": written,
    }
    _write_script(result, entry, stage, folder)
    return result


def _inputs(stage: Stage) -> dict[str, Any]:
    found = single_call._tensors(stage.inputs)
    return {"from": stage.choice.inputs or "signature", "tensors": len(found),
            "bytes": sum(t.numel() * t.element_size() for _, t in found)}


def _check(recorded: SignatureFile, stage: Stage, variant: Variant, times: dict[str, Any],
           trace: str, options: Options) -> dict[str, Any]:
    signature = stage.signature
    checks = [against.outputs(signature, variant.result)]
    place = options.against or recorded.folder
    try:
        full = (against.FullTrace(options.against, signature.stage) if options.against
                else against.full_trace(recorded.folder, signature.stage))
        if full is not None:
            checks.append(against.work(signature.stage, trace, full))
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise BenchError(f"{place}: cannot compare with this trace: {why}") from why
    measured = against.duration(recorded.folder, signature.path, times, options.tolerance_pct)
    if measured is not None:
        checks.append(measured)
    notes = against.state(signature, stage.target.owner, variant.call.written)
    notes += against.machine(recorded.folder, device_name(stage.device))
    return {"checks": checks, "notes": notes, "same": all(c["same"] for c in checks),
            "full_trace": full.path if full is not None else None}


def _write_script(result: dict[str, Any], entry: find.Entry, stage: Stage,
                  folder: files.Folder) -> None:
    signature = stage.signature
    medians = {f"{m}_ms": t["median_ms"] for m, t in result["times"].items()}
    try:
        if stage.choice.arguments:
            raise ValueError("it cannot generate the arguments given with --arg")
        path = folder.new(f"profile_{signature.stage}", ".py")
        facts = {"file": os.path.basename(path), "device": stage.device,
                 "seed": stage.choice.seed, "times": medians, "types": stage.choice.types,
                 "stored": os.path.abspath(stage.choice.inputs) if stage.choice.inputs else None,
                 "inputs": script.moved(stage.described, stage.choice.device),
                 "state": script.moved(stage.state, stage.choice.device)}
        text = script.text(entry, stage.target, signature, facts)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        result["files"]["script"] = path
    except ValueError as why:
        result["notes"].append(f"no profile_{signature.stage}.py: {why}")
