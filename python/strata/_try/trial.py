"""One trial: the program in a fresh process with some fixes, and what it left in its folder."""
from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any

from strata._base import PACKAGE
from strata._try.fixes import parse

GRACE_S = 5.0  # between being asked to end and being ended


@dataclass
class Trial:
    """A process that ran."""

    folder: str
    fixes: list[str]
    number: int = 0  # its place in the sequence of all
    status: int = 0
    wall_s: float = 0.0
    timed_out: bool = False
    series: dict[str, list[float]] = field(default_factory=dict)  # unit -> times in ms, in order
    outputs: dict[int, dict[str, Any]] = field(default_factory=dict)
    failure: dict[str, Any] | None = None
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)  # by fix
    turns: dict[int, dict[int, float]] = field(default_factory=dict)  # times of units by their place
    probes: dict[int, dict[str, dict[str, Any]]] = field(default_factory=dict)  # results, by turn
    last_turn: int = -1
    error: dict[str, Any] | None = None
    modules: list[dict[str, Any]] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)  # fix -> how the program writes its module
    of_module: dict[str, dict[str, Any]] = field(default_factory=dict)  # fix -> what its code depends on
    sites: dict[str, dict[str, Any]] = field(default_factory=dict)  # fix or unit -> source
    skipped: dict[str, str] = field(default_factory=dict)  # fix -> why it was not applied
    waiting: dict[str, str] = field(default_factory=dict)  # fix -> the module it waits for to the end
    owner: str = ""  # the pipeline's name in the program
    machine: dict[str, Any] = field(default_factory=dict)
    ended_early: bool = False
    is_python: bool = False  # whether a Python with our hooks has begun

    def times(self, unit: str) -> list[float]:
        """For the unit, or for the whole program where there is none."""
        return self.series.get(unit, []) if unit != "program" else [self.wall_s * 1e3]


def read(trial: Trial) -> None:
    """Fills in what the processes of the trial wrote: of several, the one with most of the time."""
    best = -1.0
    for path in sorted(glob.glob(os.path.join(glob.escape(trial.folder), "units-*.jsonl"))):
        lines = _lines(path)
        trial.is_python = trial.is_python or bool(lines)
        total = sum(x["ms"] for x in lines if x["what"] == "unit")
        for x in lines:
            _note(trial, x)
        if total > best:
            best = total
            _take(trial, lines)
    for spec, module in trial.waiting.items():
        if spec not in trial.targets:  # in no process: a launcher calls no modules itself
            _note(trial, {"what": "failed", "fix": spec, "type": "", "source": None,
                          "message": f"the program calls no module {module!r}"})


def _lines(path: str) -> list[dict[str, Any]]:
    found = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            try:
                found.append(json.loads(line))
            except ValueError:  # the last line of a process that was killed
                pass
    return [x for x in found if isinstance(x, dict) and "what" in x]


def _note(trial: Trial, x: dict[str, Any]) -> None:
    """What counts wherever it was written."""
    if x["what"] == "failed":
        trial.failure = trial.failure or x
        trial.failures.setdefault(x["fix"], x)
    elif x["what"] == "error":
        trial.error = x
    elif x["what"] == "target":
        trial.targets[x["fix"]] = x["written"]
        trial.of_module[x["fix"]] = x.get("seen") or {}
    elif x["what"] == "fix" and x["note"] == "site":
        trial.sites.setdefault(x["fix"], {**(x.get("source") or {}), "call": x.get("call", ""),
                                          "by": x.get("by", "")})
    elif x["what"] == "fix" and x["note"] == "skipped":
        trial.skipped[x["fix"]] = x.get("why", "")
    elif x["what"] == "modules":
        trial.modules += x["modules"]
        trial.owner = trial.owner or x.get("owner", "")


def _take(trial: Trial, lines: list[dict[str, Any]]) -> None:
    trial.series, trial.outputs, trial.turns, trial.probes, trial.waiting = {}, {}, {}, {}, {}
    for x in lines:
        if x["what"] == "unit":
            trial.series.setdefault(x["unit"], []).append(float(x["ms"]))
            if "turn" in x:
                trial.turns.setdefault(int(x["turn"]), {})[int(x["at"])] = float(x["ms"])
        elif x["what"] == "probe":
            trial.probes.setdefault(int(x["turn"]), {})[x["which"]] = x
        elif x["what"] == "waiting":
            trial.waiting[x["fix"]] = x["module"]
        elif x["what"] == "turn":
            trial.last_turn = int(x["turn"])
        elif x["what"] == "outputs":
            trial.outputs[int(x["k"])] = x
        elif x["what"] == "site":
            trial.sites.setdefault(x["unit"], x.get("source") or {})
        elif x["what"] == "end":
            trial.machine = {k: v for k, v in x.items() if k != "what"}
        elif x["what"] == "enough":
            trial.ended_early = True


class Runner:
    """Starts trials, one after the other."""

    def __init__(self, command: list[str], folder: str, scratch: bool = False) -> None:
        self.command = command
        self.folder = folder
        self.scratch = scratch
        self.count = 0
        self.running: subprocess.Popen | None = None

    def run(self, fixes: list[str], plan: dict[str, Any], limit_s: float,
            stdout: Any = None) -> Trial:
        """The program with these fixes; its output goes to files unless `stdout` is given."""
        self.count += 1
        name = "+".join(fixes) or "as_it_is"
        if len(plan.get("turns", [])) > 1:
            name = "in_turns"
        folder = os.path.join(self.folder,
                              f"{self.count:02d}_{re.sub(r'[^A-Za-z0-9.+-]+', '_', name)[:80]}")
        os.makedirs(folder)
        trial = Trial(folder, fixes, self.count)
        plan = {"folder": folder, "fixes": fixes, **plan}
        path = os.path.join(folder, "plan.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(plan, f, indent=1)
        self._start(trial, self._environment(path, fixes), limit_s, stdout)
        read(trial)
        for unit, times in list(trial.series.items())[:1] if not trial.turns else ():
            write_trace(folder, unit, times)
        return trial

    def _environment(self, plan: str, fixes: list[str]) -> dict[str, str]:
        ours = ("STRATA_RUN", "STRATA_LAUNCH", "STRATA_MAIN_PID")
        env = {k: v for k, v in os.environ.items() if k not in ours}
        inject = os.path.join(PACKAGE, "_inject")
        if inject not in env.get("PYTHONPATH", "").split(os.pathsep):
            env["PYTHONPATH"] = inject + (os.pathsep + env["PYTHONPATH"]
                                          if env.get("PYTHONPATH") else "")
        env.update(STRATA="off", STRATA_TRY=plan)
        env.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(self.folder, "cache"))
        for spec in fixes:
            env.update(parse(spec).environment())
        return env

    def _start(self, trial: Trial, env: dict[str, str], limit_s: float, stdout: Any) -> None:
        out = open(os.path.join(trial.folder, "stdout.txt"), "wb")
        err = open(os.path.join(trial.folder, "stderr.txt"), "wb")
        with out, err:
            began = time.monotonic()
            self.running = subprocess.Popen(
                self.command, env=env, cwd=self.place(trial.folder), stdin=_stdin(),
                stdout=out if stdout is None else stdout, stderr=err if stdout is None else None,
                start_new_session=True)
            try:
                trial.status = self.running.wait(limit_s)
            except subprocess.TimeoutExpired:
                trial.timed_out = True
            finally:
                trial.wall_s = time.monotonic() - began
                self.stop()

    def stop(self) -> None:
        """Ends what is left of the trial: the program, and what it has started."""
        process, self.running = self.running, None
        if process is None:
            return
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, how)
            except (ProcessLookupError, PermissionError):
                break
            try:
                process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                continue
        process.wait()

    def place(self, folder: str) -> str | None:
        """A copy of the working directory there, if the program is to leave its files alone."""
        if not self.scratch:
            return None
        place = os.path.join(folder, "work")
        shutil.copytree(".", place, symlinks=True, ignore=self._left_out)
        return place

    def scratch_bytes(self, most: int) -> int:
        """What a copy takes; no more is counted than `most`."""
        total = 0
        for folder, folders, names in os.walk("."):
            folders[:] = set(folders) - set(self._left_out(folder, folders))
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_size
                if total > most:
                    return total
        return total

    def _left_out(self, folder: str, names: list[str]) -> list[str]:
        """What the program does not need: its history, and our own files."""
        def is_ours(name: str) -> bool:
            path = os.path.join(os.path.abspath(os.path.join(folder, name)), "")
            return os.path.join(os.path.abspath(self.folder), "").startswith(path)

        return [n for n in names if n in (".git", "__pycache__", "strata_out") or is_ours(n)]


def _stdin() -> Any:
    """A file is read again by every trial; anything else could be read only once."""
    try:
        if os.path.isfile("/dev/stdin"):
            return open("/dev/stdin", "rb")
    except OSError:
        pass
    return subprocess.DEVNULL


def reason_of(failed: dict[str, Any]) -> dict[str, Any]:
    """What a process wrote about a fix that failed, for the report."""
    kind, text = failed.get("type"), failed.get("message", "")
    found = {"reason": f"{kind}: {text}" if kind else text, "source": failed.get("source")}
    return {**found, "already": True} if failed.get("already") else found


def failure_of(trial: Trial, expected: int) -> dict[str, Any] | None:
    """Why a trial does not count: {"reason", "source"}; None when it does."""
    if trial.failure is not None:
        return reason_of(trial.failure)
    if trial.timed_out:
        return {"reason": f"it was still running after {trial.wall_s:.0f} s", "source": None}
    if trial.status == expected or trial.ended_early:
        return None
    if trial.error is not None:
        return {"reason": f"{trial.error['type']}: {trial.error['message']}",
                "source": trial.error.get("source")}
    how = (f"signal {-trial.status}" if trial.status < 0 else f"exit status {trial.status}")
    return {"reason": f"the program ends with {how}; without the fix it ends with {expected}; see "
                      f"{os.path.join(os.path.relpath(trial.folder), 'stderr.txt')}", "source": None}


def write_trace(folder: str, unit: str, times: list[float]) -> None:
    """Units as a trace, so that `strata diff` and `strata diff` read a trial."""
    events: list[dict[str, Any]] = []
    at = 0.0
    for k, ms in enumerate(times):
        for cat, name in (("user_annotation", f"ProfilerStep#{k}"),
                          ("cpu_op", unit.partition(":")[2])):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1,
                           "ts": round(at, 3), "dur": round(ms * 1e3, 3)})
        at += ms * 1e3
    if events:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "trace.json"), "w", encoding="utf-8") as f:
            json.dump({"schemaVersion": 1, "traceEvents": events}, f)


