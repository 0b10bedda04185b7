"""One stage of a pipeline, run alone and measured; two variants, and whether they differ.

    results = strata.bench.stage("strata_out/pipe/20260105_101502", "vae_decode", "my_pipe:load")
    found = strata.bench.compare(lambda: model(x), lambda: faster(x))
    print(found["verdict"], found["change_pct"])

The same as `strata bench` on the command line. docs/bench.md explains the numbers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strata._record import stage_owners

stage_owners.wanted = True  # stages that are defined from now on can be found by their names


def stage(run: str, name: str, entry: str, **options: Any) -> list[dict[str, Any]]:
    """Runs a stage of the run in that folder (or signature file) alone; one result per signature.
    `options` are those of strata.bench.run.Options, and of its Choice."""
    from strata.bench.run import bench_stages
    return bench_stages(run, name, _options(entry, options))


def call(entry: str, **options: Any) -> dict[str, Any]:
    """Measures a whole call, in several modes or compared with another variant."""
    from strata.bench import race
    return race.bench_call(_options(entry, options))


def _options(entry: str, given: dict[str, Any]) -> Any:
    from dataclasses import fields

    from strata.bench import run, variants
    names = {f.name for f in fields(variants.Choice)}
    choice = variants.Choice(**{k: v for k, v in given.items() if k in names})
    rest = {k: v for k, v in given.items() if k not in names}
    return run.Options(entry=entry, choice=choice, **rest)


def compare(before: Callable[[], Any], after: Callable[[], Any], *, seconds: float = 30.0,
            threshold_pct: float = 1.0, iterations: int | None = None, device: str | None = None,
            seed: int = 0) -> dict[str, Any]:
    """Calls two functions alternately and says whether they take different times: "verdict" is
    slower, faster, no_difference or unknown, about `after`."""
    from strata.bench import race, run
    from strata.bench.variants import Variant, Whole
    line = race.Line(run.Options(seconds=seconds, threshold_pct=threshold_pct,
                                 iterations=iterations))
    line.variants = [Variant(name, Whole(fn, (), seed))
                     for name, fn in (("before", before), ("after", after))]
    line.device = device or race.used_device()
    result = race.race(line, "compare")
    return {**result["comparisons"][0], "variants": result["variants"]}
