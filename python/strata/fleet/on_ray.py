"""A Ray cluster: the one that runs at an address, or one on this machine."""
from __future__ import annotations

from collections.abc import Iterator

from strata.fleet import jobs as work


def run(jobs: list[work.Job], address: str | None = None,
        workers: int | None = None) -> Iterator[work.Result]:
    """Every job is a task. One whose worker or machine dies is run again elsewhere, without end: only
    a job that fails by itself is given up, and that is a result."""
    import ray
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(work)  # other machines need not have this package
    if address:
        ray.init(address=address, log_to_driver=False)
    else:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        task = ray.remote(num_cpus=1, max_retries=-1)(work.run_job)
        waiting = [task.remote(job) for job in jobs]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    finally:
        ray.shutdown()
