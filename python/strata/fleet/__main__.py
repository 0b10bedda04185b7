"""The command: python -m strata.fleet."""
from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator

from strata._base import command
from strata.fleet import jobs as work, local, on_ray, slurm


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m strata.fleet",
        description="Summarizes many traces at once, then asks the tables. Ranks are independent: the "
                    "work is spread over cores, a Ray cluster or a Slurm array.")
    parser.add_argument("traces", nargs="+", metavar="TRACE",
                        help="files, folders or patterns ('runs/**/*.json.gz')")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where the tables go")
    parser.add_argument("--engine", choices=("local", "ray", "slurm"), default="local")
    parser.add_argument("--run", help="name of the run (default: the folder each trace lies in)")
    parser.add_argument("--workers", type=int, metavar="N",
                        help="jobs at the same time (default: one per core; 64 tasks with slurm)")
    parser.add_argument("--ray-address", metavar="ADDRESS", help="of a cluster that runs ('auto')")
    parser.add_argument("--slurm-option", action="append", default=[], metavar="OPTION",
                        help="passed to sbatch, for example --slurm-option=--partition=cpu")
    parser.add_argument("--dry-run", action="store_true", help="slurm: write the script, submit nothing")
    parser.add_argument("--query", default="stragglers", metavar="NAME",
                        help="what to ask the tables in the end (strata sql --list; 'none': nothing)")
    return parser


def engine(args: argparse.Namespace, jobs: list[work.Job]) -> Iterator[work.Result]:
    if args.engine == "ray":
        return on_ray.run(jobs, args.ray_address, args.workers)
    if args.engine == "slurm":
        script = slurm.write_script(jobs, args.output, args.workers or 64)
        return slurm.run(jobs, script, args.slurm_option)
    return local.run(jobs, args.workers)


def why_not(args: argparse.Namespace) -> str:
    """What is missing for the engine, or nothing."""
    if args.engine == "ray" and importlib.util.find_spec("ray") is None:
        return "Ray is not installed: pip install ray"
    if args.engine == "slurm" and not args.dry_run and shutil.which("sbatch") is None:
        return "sbatch is not on the path; --dry-run writes the script without submitting it"
    return ""


def fail(text: str, status: int = 2) -> int:
    print(f"strata.fleet: {text}", file=sys.stderr)
    return status


def gather(args: argparse.Namespace, jobs: list[work.Job]) -> list[work.Result]:
    results = []
    for result in engine(args, jobs):
        results.append(result)
        if result.error:
            fail(f"{result.job.trace}: {result.error}")
        if sys.stderr.isatty():
            print(f"\r{len(results)} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    return results


def main(argv: list[str] | None = None) -> int:
    args = options().parse_args(argv)
    missing = why_not(args)
    if missing:
        return fail(missing)
    traces = work.find_traces(args.traces)
    if not traces:
        return fail("no traces found")
    program = command.program() or "strata"
    jobs = work.make_jobs(traces, args.output, program, args.run)
    if args.engine == "slurm" and args.dry_run:
        print(slurm.write_script(jobs, args.output, args.workers or 64))
        return 0
    results = gather(args, jobs)
    doubles = work.find_doubles(results)
    for double in doubles:
        fail(double)
    good = sum(not result.error for result in results)
    print(f"{args.output}   {good} of {len(jobs)} traces summarized", flush=True)
    if good and args.query != "none":
        subprocess.run([program, "sql", args.output, "--query", args.query], check=False)
    return 0 if good == len(jobs) and not doubles else 3


if __name__ == "__main__":
    sys.exit(main())
