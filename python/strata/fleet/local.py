"""All cores of this machine."""
from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from strata.fleet.jobs import Job, Result, run_job


def run(jobs: list[Job], workers: int | None = None) -> Iterator[Result]:
    """Each job is a process; the threads only wait for them. One core per job unless told otherwise."""
    with ThreadPoolExecutor(workers or len(os.sched_getaffinity(0))) as pool:
        yield from pool.map(run_job, jobs)
