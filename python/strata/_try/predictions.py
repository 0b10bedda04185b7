"""Which fixes the report of a recording asks for, and the gain it predicts for each."""
from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from typing import Any

from strata._base import command
from strata._try import fixes

ENDINGS = ("_forward", "_decode", "_encode", ".forward")
MAIN = "model"  # whichever part does most of the work
MAIN_PARTS = ("unet", "transformer", "prior")
LEAST_PCT = 0.5  # of the time: less is not worth a trial


@dataclass
class Predictions:
    """What the report says: predicted gains by fix, largest first, and the ladder."""

    gains: dict[str, float] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    wall_us: float = 0.0
    ladder: list[dict[str, Any]] = field(default_factory=list)
    trace: str = ""
    trouble: str = ""
    main: set[str] = field(default_factory=set)  # names of the module that does most of the work

    def of(self, spec: str) -> tuple[float | None, str]:
        """(predicted gain, rule) of a fix the user may have written in another way. A prediction
        for a module does not hold for a part of it."""
        if spec in self.gains:
            return self.gains[spec], self.rules[spec]
        known = self._known(spec)
        return (self.gains[known], self.rules[known]) if known and not _is_part(spec) else (None, "")

    def at_most(self, spec: str) -> float | None:
        """The same, but a part of a module gets the prediction for all of it."""
        known = self._known(spec)
        return self.gains[known] if known else None

    def _known(self, spec: str) -> str | None:
        wanted = _plain(spec, self.main)
        return next((known for known in self.gains if _plain(known, self.main) == wanted), None)


def main_module(modules: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The one that does most of the work, of those the program calls itself: what it calls `model`, else the
    largest."""
    own = [m for m in modules if m.get("via") in ("called", "generate")]
    return max(own, key=lambda m: (m["name"] == MAIN, m.get("parameters", 0)), default=None)


def _plain(spec: str, main: set[str]) -> list[str]:
    """A fix without what a report does not distinguish: kinds of fused attention, numbers of workers,
    parts of a module, the name of the main module."""
    name, *words = spec.split(":")
    if name in ("attention", "loader", "gc"):
        return [name]
    if words:
        words[0] = words[0].partition(".")[0]  # a part of a module
        words[0] = MAIN if words[0] in MAIN_PARTS or words[0] in main else words[0]
    return [name, *(w for w in words if w not in ("blocks", "default"))]


def _is_part(spec: str) -> bool:
    """Whether it is about some of a module: its repeated blocks, or a path into it."""
    _, *words = spec.split(":")
    return "blocks" in words or "." in "".join(words[:1])


def read(trace: str) -> Predictions:
    """The report of a run or a trace; empty where there is none."""
    program = command.program()
    if program is None:
        return Predictions(trace=trace, trouble="the strata command is not installed")
    done = subprocess.run([program, "report", trace, "--json"], capture_output=True, text=True,
                          check=False, timeout=command.LONGEST_S)
    try:
        report = json.loads(done.stdout) if done.returncode == 0 else None
    except ValueError:
        report = None
    if not isinstance(report, dict):
        lines = done.stderr.strip().splitlines()
        return Predictions(trace=trace, trouble=lines[-1] if lines else "it cannot be read")
    return of_report(report, trace)


def of_report(report: dict[str, Any], trace: str = "") -> Predictions:
    """From the JSON of `strata report`."""
    findings = report.get("findings") or []
    out = Predictions(trace=trace, wall_us=float(report.get("wall_us") or 0.0), trouble=_problems(report),
                   ladder=[_rung(rung, findings) for rung in report.get("ladder") or []])
    for finding in findings:
        for spec, gain in fixes.from_finding(finding, module_of(finding)):
            if gain >= LEAST_PCT and gain > out.gains.get(spec, 0.0):
                out.gains[spec], out.rules[spec] = gain, str(finding.get("rule"))
    order = sorted(out.gains, key=lambda s: -out.gains[s])
    out.gains = {spec: out.gains[spec] for spec in order}
    return out


def _problems(report: dict[str, Any]) -> str:
    """Why the report predicts nothing, whatever it has seen; "" if it does."""
    if not report.get("abstains"):
        return ""
    problems = (report.get("trace_quality") or {}).get("problems") or []
    found = [str(p.get("what")) for p in problems if p.get("level") != "good"]
    return "the recording cannot be trusted" + (f": {found[0]}" if found else "")


def _rung(rung: dict[str, Any], findings: list[dict[str, Any]]) -> dict[str, Any]:
    """A rung of the ladder, with the rule whose finding it is."""
    number = rung.get("finding") or 0
    return {**rung, "rule": findings[number - 1].get("rule") if 0 < number <= len(findings) else None}


def module_of(finding: dict[str, Any]) -> str:
    """The module a finding is about, as far as its subject is the name of a stage."""
    subject = str(finding.get("subject") or "")
    for ending in ENDINGS:
        if subject.endswith(ending):
            return subject.removesuffix(ending)
    return ""


def suitable(predictions: Predictions, modules: list[dict[str, Any]], trains: bool) -> list[str]:
    """The fixes to try, by predicted gain; module names that the program does not
    have stand for the one that does most of the work."""
    known, generating = _names(modules), _names([m for m in modules if m.get("via") == "generate"])
    own = _own_name(modules)
    repeating = _names([m for m in modules if m.get("blocks", 0) > 1])
    found: list[str] = []
    for spec in list(predictions.gains):
        fix = fixes.parse(spec)
        name = fix.module.split(".")[0]
        if trains and fix.name == "graph":
            continue  # compile in the mode reduce-overhead stands for it
        if fix.name == "static_cache" and not generating:
            continue
        if (name if name in known else MAIN) in generating and _is_graph(fix):
            continue  # static_cache stands for it: a cache that grows fits no graph
        wanted = name if not name or (name in known and name != MAIN) else own or MAIN
        if name and wanted != name and "." not in fix.module:
            spec = ":".join([fix.name, wanted, *fix.arguments[1:]])
            predictions.gains.setdefault(spec, predictions.gains[fix.spec])
            predictions.rules.setdefault(spec, predictions.rules[fix.spec])
        if _cannot_apply(fix, next((m for m in modules if m["name"] == wanted), None)):
            continue
        if fix.name == "compile" and len(fix.arguments) == 1 and spec.split(":")[1] in repeating:
            found.append(f"{spec}:blocks")  # compiled much sooner, and often as fast
        found.append(spec)
    return list(dict.fromkeys(found))


def _own_name(modules: list[dict[str, Any]]) -> str:
    """What the program calls the module that reports call `model`: of a pipeline the part that is the same
    module, else the one that does most of the work."""
    main = next((m for m in modules if m["name"] == MAIN), None)
    if main is None:
        found = main_module(modules)
        return str(found["name"]) if found else ""
    same = [m for m in modules if m is not main and m["class"] == main["class"]
            and m.get("parameters") == main.get("parameters")]
    return str(same[0]["name"]) if same else MAIN


def _cannot_apply(fix: fixes.Fix, module: dict[str, Any] | None) -> bool:
    """Whether what is known of its module rules a fix out."""
    return fix.name == "channels_last" and module is not None and module.get("convolutions") == 0


def _names(modules: list[dict[str, Any]]) -> set[str]:
    return {m["name"] for m in modules} | {m["class"] for m in modules}


def _is_graph(fix: fixes.Fix) -> bool:
    return fix.name == "graph" or fix.spec.endswith(":reduce-overhead")
