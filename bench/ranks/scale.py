#!/usr/bin/env python3
"""How long `strata report --ranks` takes, and how much memory: 1,024 ranks of 40,000 device rows, and 8 ranks
of 60 MB; and 8 ranks of 6 MB beside HolisticTraceAnalysis, which does not finish the larger ones in
minutes. Writes ranks.csv; with --hta PYTHON that interpreter has it installed.

    scale.py [--strata BINARY] [--folder build-bench] [--many N] [--hta PYTHON] [--skip large,small,many]

The traces are made by tests/data/comm/make.py; rank 5 is slow. Eight of the many ranks are different,
and the others are links to them: every one is read and analysed by itself.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HTA = """
import sys, time, json
begin = time.perf_counter()
from hta.trace_analysis import TraceAnalysis
started = time.perf_counter()
t = TraceAnalysis(trace_dir=sys.argv[1])
t.get_comm_comp_overlap(visualize=False)
t.get_temporal_breakdown(visualize=False)
print(json.dumps({"seconds": time.perf_counter() - started}))
"""


def make_eight(folder, steps):
    if folder.exists():
        return
    sys.path.insert(0, str(ROOT / 'tests/data/comm'))
    from make import make
    print(f'bench: making {folder}', flush=True)
    make([str(folder), '--ranks', '8', '--steps', str(steps), '--seed', '1', '--fault', 'slow:5'])


def make_many(folder, eight, n):
    """Links to the eight, whose ranks are those in their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for r in range(8):
        plain = folder / f'source{r}.txt'
        if not plain.exists():
            text = (eight / f'rank{r}.json').read_text()
            plain.write_text(re.sub(r'"rank": \d+, "world_size": \d+, ', '', text, count=1))
    for r in range(n):
        link = folder / 'traces' / f'rank{r}.json'
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(folder.resolve() / f'source{r % 8}.txt')
    return folder / 'traces'


def measure(command):
    """What the command prints, and what it takes; its memory is looked up while it runs, for the
    maximum that the system keeps begins with that of the process that started it."""
    begin, peak = time.perf_counter(), 0
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out)
        while os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            try:
                found = re.search(r'VmHWM:\s+(\d+)', Path(f'/proc/{child.pid}/status').read_text())
            except OSError:
                found = None
            peak = max(peak, int(found[1]) * 1024 if found else 0)
            time.sleep(0.01)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return out.read(), {'seconds': time.perf_counter() - begin, 'peak_bytes': peak,
                            'cpu_seconds': used.ru_utime + used.ru_stime}


def ours(strata, folder, ranks):
    out, used = measure([strata, 'report', '--ranks', str(folder), '--json'])
    data = json.loads(out)
    assert len(data['ranks']) == ranks and data['unmatched'] == 0
    assert data['stragglers'][0]['rank'] % 8 == 5 and data['stragglers'][0]['cause'] == 'slow_kernel'
    return used


def theirs(python, folder):
    out, used = measure([python, '-c', HTA, str(folder)])
    used['seconds'] = json.loads(out.splitlines()[-1])['seconds']
    return used


def machine():
    cpu = re.search(r'model name\s*: (.*)', Path('/proc/cpuinfo').read_text())
    return f"{cpu[1] if cpu else 'unknown'}, {len(os.sched_getaffinity(0))} cores"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', default='build/src/strata')
    parser.add_argument('--folder', type=Path, default=Path('build-bench'))
    parser.add_argument('--many', type=int, default=1024)
    parser.add_argument('--skip', default='')
    parser.add_argument('--hta', help='an interpreter that has HolisticTraceAnalysis')
    args = parser.parse_args()
    large, small, few = (args.folder / name for name in ('ranks8', 'ranks40000', 'ranks8_small'))
    rows = []

    def add(what, tool, used, goal=''):
        print(f"{what:40} {tool:24} {used['seconds']:8.2f} s  {used['cpu_seconds']:8.2f} s of CPU  "
              f"{used['peak_bytes'] / 1e6:8,.0f} MB  {goal}", flush=True)
        rows.append({'machine': machine(), 'input': what, 'tool': tool,
                     'seconds': f"{used['seconds']:.2f}", 'cpu_seconds': f"{used['cpu_seconds']:.2f}",
                     'peak_mb': f"{used['peak_bytes'] / 1e6:.0f}", 'goal': goal})

    if 'large' not in args.skip:
        make_eight(large, 11600)
        add('8 ranks of 60 MB', 'strata report --ranks', ours(args.strata, large, 8), '< 3 s')
    if 'small' not in args.skip:
        make_eight(few, 1160)
        mine = ours(args.strata, few, 8)
        add('8 ranks of 6 MB', 'strata report --ranks', mine)
        python = args.hta or args.folder / 'venv/bin/python'
        if Path(python).exists():
            other = theirs(str(python), few)
            ratio = (f"{other['cpu_seconds'] / mine['cpu_seconds']:.0f} times the CPU time of "
                     "strata report --ranks")
            add('8 ranks of 6 MB', 'HolisticTraceAnalysis', other, ratio)
    if 'many' not in args.skip:
        make_eight(small, 3334)
        many = make_many(args.folder / 'ranks_many', small, args.many)
        add(f'{args.many} ranks of 40,000 device rows', 'strata report --ranks',
            ours(args.strata, many, args.many), '< 180 s, < 1000 MB')
    with open(ROOT / 'bench/ranks.csv', 'w', newline='', encoding='utf-8') as f:
        out = csv.DictWriter(f, fieldnames=list(rows[0]), lineterminator='\n')
        out.writeheader()
        out.writerows(rows)


if __name__ == '__main__':
    main()
