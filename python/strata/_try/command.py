"""The command line. `strata try` checks its options before they come here."""
from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import time
from typing import Any

from strata._try import fixes, history, screen
from strata.bench.errors import BAD_INPUT, USAGE, BenchError, printable
from strata.bench.screen import Screen

MOST_SCRATCH = 1 << 30  # bytes of a working directory that is copied for every process


def parser() -> argparse.ArgumentParser:
    """The options; their help is that of `strata try --help`."""
    p = argparse.ArgumentParser(prog="strata try", add_help=True)
    p.add_argument("recording", nargs="?", metavar="RUN|TRACE")
    p.add_argument("--fix", action="append", default=[])
    for name in ("output", "dir", "html"):
        p.add_argument(f"--{name}")
    for name in ("time", "threshold"):
        p.add_argument(f"--{name}", type=_positive)
    for name in ("units", "blocks"):
        p.add_argument(f"--{name}", type=int)
    for name in ("list", "history", "scratch", "no-record", "no-combine", "trace", "json", "color"):
        p.add_argument(f"--{name}", action="store_true")
    return p


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise ValueError
    return value


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """(our words, the program's). `strata try` has put `--` before its operands; with a recording
    among them another one separates it from the program."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    ours, rest = words[:at], words[at + 1:]
    if "--" in rest and rest.index("--") and _is_recording(rest[0]):
        cut = rest.index("--")
        return ours + rest[:cut], rest[cut + 1:]
    return ours, rest


def _is_recording(word: str) -> bool:
    """A run or a trace, and not a program: those lie on the path or can be executed."""
    return os.path.isdir(word) or (os.path.exists(word) and not os.access(word, os.X_OK)) or (
        shutil.which(word) is None)


def _options(a: argparse.Namespace, program: list[str]) -> Any:
    from strata._try.driver import REPORT, Options
    if not program:
        raise BenchError("give the program to try: strata try -- python pipe.py", USAGE)
    if a.recording is not None and not os.path.exists(a.recording):
        raise BenchError(f"{a.recording}: no such run or trace", BAD_INPUT)
    if shutil.which(program[0]) is None:
        raise BenchError(f"cannot run {program[0]}: no such program", USAGE)
    for spec in (s for s in a.fix if s != REPORT):
        try:
            fixes.parse(spec)
        except fixes.FixError as why:
            raise BenchError(f"--fix {spec}: {why}", USAGE) from why
    for name, least in (("units", 3), ("blocks", 1)):
        value = getattr(a, name)
        if value is not None and value < least:
            raise BenchError(f"--{name} must be at least {least}", USAGE)
    return Options(program, a.recording, a.fix, a.time or 900.0, a.threshold or 1.0, a.dir,
                   a.output or "", a.units or 0, a.scratch, not a.no_record, not a.no_combine,
                   a.blocks or 0, a.trace, a.json)


def _folder(options: Any) -> str:
    """That of the recording, if it is one of a run; else a new one."""
    if options.recording is not None and os.path.isdir(options.recording):
        return options.recording
    out = options.folder or os.environ.get("STRATA_OUT") or "strata_out"
    words = options.command
    name = next((w for w in words if w.endswith(".py")), words[0])
    stem = os.path.splitext(os.path.basename(name))[0]
    path = os.path.join(out, stem, time.strftime("%Y%m%d_%H%M%S"))
    n = 1
    while os.path.exists(path if n == 1 else f"{path}_{n}"):
        n += 1
    path = path if n == 1 else f"{path}_{n}"
    os.makedirs(path)
    return path


def _try(a: argparse.Namespace, program: list[str]) -> int:
    from strata._try import result
    from strata._try.driver import Driver
    options = _options(a, program)
    if a.html and not os.path.isdir(os.path.dirname(os.path.abspath(a.html))):
        raise BenchError(f"--html {a.html}: there is no such folder", USAGE)
    try:
        driver = Driver(options, _folder(options))
    except OSError as why:
        raise BenchError(f"cannot create a folder for the trials: {why}; choose another with --dir DIR"
                         ) from why
    if options.scratch and driver.runner.scratch_bytes(MOST_SCRATCH) > MOST_SCRATCH:
        raise BenchError("--scratch copies the working directory for every process, and this one has more "
                         "than 1 GB: start from a smaller one", USAGE)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # what is known is shown, nothing runs on
    driver.run()
    found = result.collect(driver)
    history.add(found)
    if a.json:
        print(json.dumps(found, default=str))
    else:  # standard output is the program's
        s = Screen(a.color)
        screen.result(s, found)
        sys.stdout.flush()
        sys.stderr.write("\n" + s.text())
    _write(found, a.html)
    if driver.interrupted:
        return 130
    return int(found["status"]) if found["status"] >= 0 else 128 - int(found["status"])


def _write(found: dict[str, Any], html: str | None) -> None:
    """Files, when everything else is said: they may not find room."""
    from strata._try import page, result
    try:
        result.write(found)
        if html:
            page.write(found, html)
    except OSError as why:
        raise BenchError(f"cannot write the result: {why}") from why


def _history(a: argparse.Namespace) -> None:
    rows = history.read()
    groups = history.summary(rows)
    if a.json:
        print(json.dumps({"path": history.path(), "rows": rows, "by_fix": groups}))
        return
    s = Screen(a.color)
    screen.history(s, rows, groups, history.path())
    sys.stdout.write(s.text())


def _list(a: argparse.Namespace) -> None:
    if a.json:
        print(json.dumps({"fixes": [{"name": c.name, "takes": c.takes, "changes": c.changes,
                                     "safe": c.safe, "results": c.results} for c in fixes.ALL]}))
        return
    s = Screen(a.color)
    screen.listing(s)
    sys.stdout.write(s.text())


def main(words: list[str]) -> int:
    """Runs the command; its exit status."""
    try:
        ours, program = split(words)
        a = parser().parse_args(ours)
        if a.list:
            _list(a)
        elif a.history:
            _history(a)
        else:
            return _try(a, program)
        return 0
    except BenchError as why:
        print(f"strata: {printable(str(why))}", file=sys.stderr)
        return why.status
    except KeyboardInterrupt:
        return 130
