"""A Slurm array: a script, a list of the jobs, and what each of them said."""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator

from strata.fleet.jobs import Job, Result, command_of, read_result

SCRIPT = """#!/bin/bash
#SBATCH --job-name=strata-summarize
#SBATCH --array=0-{last}
#SBATCH --output={place}/%a.log
#SBATCH --cpus-per-task=1
#SBATCH --requeue
# Task T runs jobs T, T + {tasks}, T + 2 * {tasks} ... A task that runs again does only what is left.
for ((i = SLURM_ARRAY_TASK_ID; i < {jobs}; i += {tasks})); do
    [ -e {place}/$i.json ] && continue
    bash {place}/$i.sh >{place}/$i.part && mv -f {place}/$i.part {place}/$i.json
done
"""


def write_script(jobs: list[Job], folder: str, tasks: int) -> str:
    """The script to submit; beside it one small script per job."""
    place = os.path.join(os.path.abspath(folder), "_slurm")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    tasks = max(1, min(tasks, len(jobs)))
    for i, job in enumerate(jobs):
        with open(os.path.join(place, f"{i}.sh"), "w", encoding="utf-8") as file:
            file.write(shlex.join(command_of(job)) + "\n")
    script = os.path.join(place, "summarize.sbatch")
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(last=tasks - 1, tasks=tasks, jobs=len(jobs), place=shlex.quote(place)))
    return script


def run(jobs: list[Job], script: str, options: list[str]) -> Iterator[Result]:
    """Submits the array, waits for its end and reads what the jobs said."""
    done = subprocess.run(["sbatch", "--wait", "--parsable", *options, script], capture_output=True,
                          text=True, check=False)
    place = os.path.dirname(script)
    for i, job in enumerate(jobs):
        try:
            with open(os.path.join(place, f"{i}.json"), encoding="utf-8") as file:
                yield read_result(job, 0, file.read(), "")
        except OSError:
            why = done.stderr.strip() or f"no result; see the logs in {place}"
            yield Result(job, error=why)
