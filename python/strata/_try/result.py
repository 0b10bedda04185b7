"""The result of `strata try` as one dictionary: what JSON, the screen and the page are made from."""
from __future__ import annotations

import json
import os
from typing import Any

from strata._base import secrets
from strata._try import code, fixes, judge, switching, warmup
from strata._try.driver import Driver, words_of
from strata._try.kinds import Kind
from strata._try.warmup import warm_up
from strata.bench import stats
from strata.bench.files import finite


def collect(driver: Driver) -> dict[str, Any]:
    """Everything that was found out."""
    best = driver.best()
    unit = driver.unit
    before = [t.times(unit) for t in driver.base.trials if t.times(unit)]
    first = getattr(driver, "first", None)
    if not before and first is not None and first.times(unit):
        before = [first.times(unit)]
    out: dict[str, Any] = {
        "program": os.path.basename(_script(driver.options.command)),
        "command": secrets.clean_command(driver.options.command),
        "status": getattr(driver, "expected", 0),
        "unit": {"key": unit, "words": words_of(unit),
                 "count": len(before[0]) if before else 0,
                 "source": first.sites.get(unit) if first is not None else None,
                 "median_ms": _median(before)},
        "machine": first.machine if first is not None else {},
        "modules": first.modules if first is not None else [],
        "predictions_from": driver.predictions.trace or None,
        "ladder": driver.predictions.ladder,
        "fixes": [_kind(driver, k) for k in driver.kinds if k.is_tried],
        "combinations": [_kind(driver, k) for k in driver.combinations],
        "best": best.specs if best is not None else [],
        "code": _code(driver, best) if best is not None else [],
        "not_tried": driver.untried, "interrupted": driver.interrupted,
        "notes": list(dict.fromkeys(driver.notes)), "folder": driver.runner.folder,
        "processes": driver.runner.count, "recordings": driver.recordings,
        "baseline": {"processes": len(driver.base.trials),
                     "trials": [os.path.basename(t.folder) for t in driver.base.trials]},
    }
    return finite(out)


def write(result: dict[str, Any]) -> str:
    """try.json in the folder of the trials."""
    path = os.path.join(result["folder"], "try.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1, default=str)
    return path


def _script(command: list[str]) -> str:
    return next((w for w in command if w.endswith(".py")), command[0])


def _median(groups: list[list[float]]) -> float | None:
    warm = _warm(groups)
    return stats.median(warm) if warm else None


def _warm(groups: list[list[float]]) -> list[float]:
    return [t for times in groups for t in times[warm_up(times):]]


def _kind(driver: Driver, kind: Kind) -> dict[str, Any]:
    before_ms, after_ms = _times(driver, kind) if kind.failure is None else (None, None)
    predicted, rule = driver.predictions.of(kind.specs[0]) if len(kind.specs) == 1 else (None, "")
    found = {"fix": kind.name, "specs": kind.specs, "predicted_pct": predicted, "rule": rule,
             "measured": _measured(kind),
             "before_ms": before_ms, "median_ms": after_ms,
             "outputs": driver.outputs_of(kind), "failure": kind.failure,
             "set_up": _set_up(driver, kind),
             "results_may": [fixes.parse(s).results for s in kind.specs],
             "peak_bytes": kind.trials[0].machine.get("peak_bytes") if kind.trials else None,
             "trials": [os.path.basename(t.folder) for t in kind.trials],
             "switched": [s.folder for s in kind.switched]}
    return found


def _times(driver: Driver, kind: Kind) -> tuple[float | None, float | None]:
    """What a unit takes without and with the fix, in the same turns or among the same processes; they
    differ by what was measured."""
    found: tuple[float, float] | None
    if kind.switched:
        found = switching.usual_ms([s.taken for s in kind.switched], bool(kind.pause_block))
    else:
        before, after = ([t.times(driver.unit) for t in k.trials if t.times(driver.unit)]
                         for k in (driver.base, kind))
        found = judge.usual_ms(before, after)
    if found is None or kind.measured is None:
        return None, None
    return judge.agreeing(*found, kind.measured.change_pct)


def _measured(kind: Kind) -> dict[str, Any] | None:
    if kind.measured is None or kind.failure is not None:
        return None
    found = switching.described(kind.measured) if kind.switched else kind.measured.as_dict()
    if judge.is_open(found["verdict"], found["low_pct"], found["high_pct"]):
        found["verdict"] = judge.NOT_SETTLED
    return found


def _set_up(driver: Driver, kind: Kind) -> dict[str, Any]:
    """What a fix takes at the beginning beyond what the program takes anyway, and after how many
    units that has paid."""
    first, again = _set_up_s(driver, kind) if kind.failure is None else (None, None)
    before, after = _times(driver, kind)
    saved = (before - after) / 1e3 if before is not None and after is not None else 0.0
    return {"seconds": first, "again_s": again,
            "pays_after": int(first / saved) + 1 if saved > 0 and first and first > 0.05 else None}


def _set_up_s(driver: Driver, kind: Kind) -> tuple[float | None, float | None]:
    """(of the first process, of the last)."""
    unit = driver.unit
    if kind.switched:
        return kind.switched[0].taken.set_up_s(driver.first.times(unit)), None
    mine = [t.times(unit) for t in kind.trials if len(t.times(unit)) > 1]
    theirs = [t.times(unit) for t in driver.base.trials if len(t.times(unit)) > 1]
    if not mine or not theirs:
        return None, None
    return warmup.of_process(mine[0], theirs), warmup.of_process(mine[-1], theirs)


def _code(driver: Driver, best: Kind) -> list[dict[str, Any]]:
    shown = best.shown
    return [found for spec in best.specs for found in code.advice(spec, shown, driver.unit)] if (
        shown is not None) else []
