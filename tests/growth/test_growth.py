#!/usr/bin/env python3
"""Every command on every shape of trace, at n, 2n and 4n: what it does and the memory it takes must
not grow faster than n log n.

    test_growth.py --strata build-steps/src/strata [--shapes WORD] [--commands WORD] [-n N] [-v]

Steps are counted (steps.c), never timed, so the result does not depend on the machine. A command
costs a + b*n + c*n*n steps; what it does more from 2n to 4n than from n to 2n is 2 times as much
where c is 0, whatever it costs to start, 2.2 times for n log n, and 4 times where n*n is all there
is. The limit lies in between. Buffers that double make steps in the memory, so that is judged over
both doublings: 4 times what it takes on top of a trace of almost nothing, up to 8 with such luck, 16
where n*n is all there is.
"""
import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from shapes import SHAPES, Trace

MAX_STEPS = 2.6       # what the second doubling adds, in what the first adds
MAX_TOTAL = 5.0       # steps of 4n in those of n: up to here n log n whatever the increments say
MAX_BYTES = 12.0      # memory of 4n in that of n
FEW_STEPS = 60        # per unit of n: less is not judged
FEW_BYTES = 3000
FEW = 8               # a trace of almost nothing
TIMEOUT_S = 120
MEMORY_LIMIT = 4 << 30

# TRACE is the trace, OTHER one of the same shape that is a little smaller, OUT a file to write. With
# a `?` in front it may be that a trace has nothing of that kind (exit status 2), but not that all
# have none. STRATA and PFTRACE are the trace in those formats.
COMMANDS = [line.split() for line in """
report TRACE
report --json TRACE
report --md TRACE
report --html OUT.html TRACE
table -n 0 TRACE
table --by stack --json TRACE
table --by shape --json TRACE
kernels --limit 0 TRACE
kernels --roof --json TRACE
kernels --by op --json TRACE
gaps --limit 0 TRACE
gaps --json TRACE
syncs --limit 0 TRACE
syncs --json TRACE
? syncs --site 1 TRACE
steps --limit 0 TRACE
steps --json TRACE
stages --limit 0 TRACE
stages --all --json TRACE
gaps --launches --limit 0 TRACE
gaps --launches --json TRACE
memory --limit 0 TRACE
? export --to flame --of gpu --limit 0 TRACE
? export --to flame --of cpu --limit 0 TRACE
? export --to flame --of idle --json TRACE
memory --json TRACE
? whatif --scale-cpu .=0.5 TRACE
? whatif --drop-sync 1 TRACE
? whatif --cuda-graph . --overlap-copies TRACE
? whatif --undistort --drop-kernel k1 --json TRACE
diff --limit 0 OTHER TRACE
diff --json OTHER TRACE
diff --html OUT.html OTHER TRACE
check --budget BUDGET TRACE
report -v TRACE
info --lint TRACE
info --lint --json TRACE
info --json TRACE
export -o OUT.strata TRACE
export -o OUT.json TRACE
export --for perfetto -o OUT.json TRACE
export --strip -o OUT.json TRACE
export --args -o OUT.csv TRACE
export -o OUT.sqlite TRACE
export --to tables -o OUT.tables --replace TRACE
offload TRACE
offload --json TRACE
dive --ncu NCU TRACE
report --json STRATA
report --html OUT.html STRATA
export --to tables -o OUT.tables --replace STRATA
report --json PFTRACE
info PFTRACE
""".strip().splitlines()]

BUDGET = """wall_ms <= 1
plain_wall_ms <= 1
syncs_per_step <= 0
high_findings <= 0
stage forward cpu_ms <= 1
"""


ANSWERED = set()  # commands that had something to say about some trace


class Cost:
    """What one run took."""

    def __init__(self, steps, bytes_, status):
        self.steps, self.bytes, self.status = steps, bytes_, status


def bound_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def run(strata, command, folder, n):
    """The cost of a command on the traces of `folder` for n; None where it did not end."""
    names = {"TRACE": folder / f"{n}.json", "OTHER": folder / f"{n}-other.json",
             "STRATA": folder / f"{n}.strata", "PFTRACE": folder / f"{n}.pftrace",
             "BUDGET": folder / "budget.txt", "NCU": folder.parent / "ncu.csv"}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        counts = Path(scratch, "steps")
        args = [str(names.get(a, a)) for a in command]
        args = [a.replace("OUT.", f"{scratch}/out.") for a in args]
        env = dict(os.environ, STRATA_TEST_THREADS="1", STRATA_STEPS=str(counts), LC_ALL="C.UTF-8")
        try:
            done = subprocess.run([strata, *args], env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=TIMEOUT_S, preexec_fn=bound_memory, check=False)
        except subprocess.TimeoutExpired:
            return None
        if not counts.exists():
            return None
        steps, bytes_ = map(int, counts.read_text().split())
        return Cost(steps, bytes_, done.returncode)


def steps_ratio(costs, n):
    """How much more the second doubling adds than the first. A search that costs the same for any n
    and stops early for some makes the first one small; then all of it has grown by little."""
    if costs[2].steps < MAX_TOTAL * costs[0].steps:
        return 0.0
    first, second = costs[1].steps - costs[0].steps, costs[2].steps - costs[1].steps
    return second / max(first, n * FEW_STEPS)


def bytes_ratio(costs, n, least):
    """Memory of 4n in that of n, both on top of what the command takes anyway."""
    return (costs[2].bytes - least.bytes) / max(costs[0].bytes - least.bytes, n * FEW_BYTES)


def judge(strata, command, folder, n, least):
    """What is wrong with a command on a shape, or ''; and its figures. `least` is what the command
    costs on a trace of almost nothing."""
    optional, command = command[0] == "?", command[command[0] == "?":]
    costs = [run(strata, command, folder, size) for size in (n, 2 * n, 4 * n)]
    if None in costs:
        return "does not end in time or memory", "-"
    if any(c.status in (0, 1) for c in costs):
        ANSWERED.add(" ".join(command))
    bad = [c.status for c in costs if c.status not in (0, 1, 3) and not optional]
    if bad:
        return f"exit status {bad[0]}", "-"
    steps, bytes_ = steps_ratio(costs, n), bytes_ratio(costs, n, least)
    figures = (f"steps x{steps:.2f} ({costs[2].steps / 4 / n:.0f} each), "
               f"memory x{bytes_:.2f} ({costs[2].bytes / 4 / n:.0f} B each)")
    wrong = ["steps"] * (steps > MAX_STEPS) + ["memory"] * (bytes_ > MAX_BYTES)
    return f"{' and '.join(wrong)} grow too fast" if wrong else "", figures


def make_traces(strata, folder, shape, sizes):
    folder.mkdir()
    (folder / "budget.txt").write_text(BUDGET)
    for size in sizes:
        for count, name in ((size, f"{size}.json"), (size * 9 // 10, f"{size}-other.json")):
            trace = Trace()
            SHAPES[shape](trace, count)
            trace.write(folder / name)
        for ending in ("strata", "pftrace"):
            subprocess.run([strata, "export", folder / f"{size}.json", "-o", folder / f"{size}.{ending}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def least_costs(strata, commands, root):
    """What each command costs on a trace of almost nothing."""
    make_traces(strata, root / "few", "syncs_in_loop", [FEW])
    return [run(strata, c[c[0] == "?":], root / "few", FEW) for c in commands]


def judge_shape(args, root, shape, commands, least):
    """Prints what is wrong with the commands on one shape. Returns how many passed and failed."""
    make_traces(args.strata, root / shape, shape, (args.n, 2 * args.n, 4 * args.n))
    failed = 0
    with ThreadPoolExecutor(args.j) as pool:
        results = pool.map(lambda c, low: judge(args.strata, c, root / shape, args.n, low),
                           commands, least)
        for command, (wrong, figures) in zip(commands, results):
            failed += bool(wrong)
            if wrong or args.v:
                print(f"{'FAILED' if wrong else 'ok':6} {shape:20} {' '.join(command):42} "
                      f"{figures} {wrong}", flush=True)
    shutil.rmtree(root / shape)
    return len(commands) - failed, failed


def main():
    parser = argparse.ArgumentParser(description="what grows faster than n log n")
    parser.add_argument("--strata", required=True)
    parser.add_argument("--shapes", default="", metavar="REGEX")
    parser.add_argument("--commands", default="", metavar="REGEX")
    parser.add_argument("-n", type=int, default=400)
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-v", action="store_true", help="show what passes too")
    args = parser.parse_args()
    shapes = [s for s in SHAPES if re.search(args.shapes, s)]
    commands = [c for c in COMMANDS if re.search(args.commands, " ".join(c))]
    ncu = Path(__file__).parent.parent / "data/dive/h200_raw.csv"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as root:
        shutil.copy(ncu, Path(root, "ncu.csv"))
        least = least_costs(args.strata, commands, Path(root))
        for shape in shapes:
            more = judge_shape(args, Path(root), shape, commands, least)
            passed, failed = passed + more[0], failed + more[1]
    for command in commands:
        line = " ".join(command[command[0] == "?":])
        if line not in ANSWERED and not args.shapes:
            print(f"FAILED {line}: has nothing to say about any trace, so it shows nothing")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
