"""One trace is one job: found here, run anywhere. This module needs nothing else of the package, so
that Ray can send it to machines that have only the strata command."""
from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
from dataclasses import dataclass

ENDINGS = (".json", ".json.gz", ".json.zst", ".strata", ".sqlite")


@dataclass(frozen=True)
class Job:
    trace: str
    run: str
    rank: int  # where the trace does not say its own
    folder: str  # of the tables
    program: str  # the strata command, or the name of one on the path


@dataclass
class Result:
    job: Job
    rank: int | None = None
    run: str = ""
    error: str = ""


def find_traces(patterns: list[str]) -> list[str]:
    """The files that patterns, folders and names stand for, each once and in order."""
    found: list[str] = []
    for pattern in patterns:
        names = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern, recursive=True))
        for name in names:
            found += _inside(name) if os.path.isdir(name) else [name]
    return list(dict.fromkeys(os.path.abspath(path) for path in found))


def _inside(folder: str) -> list[str]:
    """The traces of a folder; the folder itself where there are none: that of a recording."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(ENDINGS))
    recording = os.path.isdir(os.path.join(folder, "rings"))
    return [folder] if recording or not names else [os.path.join(folder, name) for name in names]


def make_jobs(traces: list[str], folder: str, program: str, run: str | None = None) -> list[Job]:
    """Traces of the same folder are ranks of one run, numbered in order unless they know better."""
    jobs: list[Job] = []
    seen: dict[str, int] = {}
    for trace in traces:
        name = run or os.path.basename(trace if os.path.isdir(trace) else os.path.dirname(trace))
        jobs.append(Job(trace, name, seen.setdefault(name, 0), os.path.abspath(folder), program))
        seen[name] += 1
    return jobs


def command_of(job: Job) -> list[str]:
    program = job.program if os.access(job.program, os.X_OK) else shutil.which("strata") or job.program
    return [program, "export", "--to", "tables", job.trace, "-o", job.folder, "--run", job.run,
            "--rank", str(job.rank), "--json"]


def run_job(job: Job) -> Result:
    """Runs it. Files are written whole and named by run and rank: a job that runs twice, because a
    worker died amid the first time, leaves what one run leaves."""
    try:
        done = subprocess.run(command_of(job), capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError as why:
        return Result(job, error=f"cannot start {job.program}: {why}")
    return read_result(job, done.returncode, done.stdout, done.stderr)


def read_result(job: Job, status: int, output: str, errors: str) -> Result:
    """What `strata export --to tables --json` said."""
    if status:
        lines = errors.strip().splitlines()
        return Result(job, error=lines[-1] if lines else f"ended with status {status}")
    try:
        said = json.loads(output)["ranks"][0]
        return Result(job, said["rank"], said["run"])
    except (ValueError, LookupError, TypeError):
        return Result(job, error="strata export --to tables did not say what it wrote")


def find_doubles(results: list[Result]) -> list[str]:
    """Ranks that two traces claim: the tables hold only one of them."""
    by_rank: dict[tuple[str, int | None], str] = {}
    doubles = []
    for result in results:
        if result.error:
            continue
        first = by_rank.setdefault((result.run, result.rank), result.job.trace)
        if first != result.job.trace:
            doubles.append(f"rank {result.rank} of run {result.run} is in two traces: "
                           f"{first} and {result.job.trace}")
    return doubles
