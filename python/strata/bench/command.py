"""The command line. `strata bench` checks its arguments before they come here."""
from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from strata._record import stage_owners
from strata.bench.errors import USAGE, BenchError, from_program, say


def parser() -> argparse.ArgumentParser:
    """The options; their help is that of `strata bench --help`."""
    p = argparse.ArgumentParser(prog="strata bench", add_help=True)
    p.add_argument("path", nargs="?", metavar="SIGNATURE")
    for name in ("stage", "entry", "load", "signature", "target", "inputs", "modes", "compare",
                 "device", "against", "output"):
        p.add_argument(f"--{name}")
    p.add_argument("--arg", action="append", default=[])
    p.add_argument("--types", action="append", default=[])
    p.add_argument("--metric", choices=("wall", "gpu", "cpu"))
    for name in ("threshold", "tolerance", "time"):
        p.add_argument(f"--{name}", type=_positive)
    for name in ("iterations", "warmup", "seed"):
        p.add_argument(f"--{name}", type=_count)
    for name in ("list", "regional", "fullgraph", "trace", "json", "color"):
        p.add_argument(f"--{name}", action="store_true")
    return p


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise ValueError
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 0 <= value < 10**6:
        raise ValueError
    return value


def _options(a: argparse.Namespace) -> Any:
    from strata.bench.run import Options
    from strata.bench.variants import Choice
    arguments = {}
    for word in a.arg:
        name, equals, text = word.partition("=")
        if not equals or ":" not in text:
            raise BenchError(f"--arg {word}: expected NAME=MODULE:NAME", USAGE)
        arguments[name] = text
    choice = Choice(a.device, a.seed or 0, a.target, a.inputs, arguments, tuple(a.types))
    return Options(entry=a.entry, load=a.load, signature=a.signature, modes=a.modes,
                   regional=a.regional, fullgraph=a.fullgraph, compare=a.compare, metric=a.metric,
                   threshold_pct=a.threshold or 1.0, trace=a.trace,
                   iterations=a.iterations or None, seconds=a.time, warmup=a.warmup,
                   against=a.against, tolerance_pct=a.tolerance or 3.0, output=a.output,
                   progress=True, choice=choice)


def _list(a: argparse.Namespace) -> None:
    from strata.bench import screen
    from strata.bench.signatures import SignatureFile
    found = SignatureFile(a.path)
    if a.json:
        print(json.dumps({"path": found.path, "stages": [
            {"path": path, "stage": path.rsplit("/", 1)[-1],
             "signatures": [{"index": s.index, "count": s.found.get("count"), "mode": s.found.get(
                 "mode", {}), "impossible": s.impossible(), "inputs": s.inputs}
                 for s in found.of_stage(path) if s.path == path]} for path in found.stages]}))
        return
    s = screen.Screen(a.color)
    screen.listing(s, found)
    sys.stdout.write(s.text())


def _results(a: argparse.Namespace) -> list[dict[str, Any]]:
    try:
        import torch  # noqa: F401
    except ImportError as why:
        raise BenchError(f"this Python ({sys.executable}) has no torch ({why}); choose another with "
                         "--python") from why
    from strata.bench import race, run
    options = _options(a)
    if a.path is None:
        if a.stage is not None:
            raise BenchError("--stage needs the signature file of a run: strata bench "
                             "RUN/timing_io_signature.json --stage NAME", USAGE)
        return [race.bench_call(options)]
    if a.stage is None:
        raise BenchError("give --stage NAME; --list shows the stages", USAGE)
    if a.modes is not None or a.compare is not None:
        return [race.compare_stage(a.path, a.stage, options)]
    return run.bench_stages(a.path, a.stage, options)


def _show(results: list[dict[str, Any]], a: argparse.Namespace) -> None:
    from strata.bench import files, screen
    if a.json:
        value = results[0] if len(results) == 1 else {"kind": "stages", "stages": results}
        print(json.dumps(files.finite(value), default=str))
        return
    s = screen.Screen(a.color)
    for i, r in enumerate(results):
        if i:
            s.add()
        (screen.stage if r["kind"] == "stage" else screen.compare)(s, r)
    sys.stdout.write(s.text())


def main(words: list[str]) -> int:
    """Runs the command; its exit status."""
    stage_owners.wanted = True
    try:
        a = parser().parse_args(words)
        if a.list:
            if a.path is None:
                raise BenchError("--list needs a timing_io_signature.json", USAGE)
            _list(a)
        else:
            _show(_results(a), a)
        return 0
    except BenchError as why:
        say(str(why))
        return why.status
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except Exception as why:
        if getattr(why, "errno", None) is None and not isinstance(why, MemoryError):
            raise
        say(str(from_program("during the measurement", why)))
        return 3
