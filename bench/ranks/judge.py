#!/usr/bin/env python3
"""How often `strata report --ranks` finds what plant.py planted.

    judge.py --strata BINARY [--sets N] [--seed N] [--csv FILE] [TRACE ...]

Of every set: the rank, the stage and the cause of the first straggler, the step without it against
the set made without the fault (at most 3 % off); and no rank is blamed in the set without it. Traces
of single ranks are taken from the project's tests and, where they are there, from the folder of
public ones beside it.
"""
import argparse
import csv
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import plant

ROOT = Path(__file__).resolve().parents[2]
CAUSES = {'slow': 'slow_kernel', 'clock': 'slow_clock', 'more': 'more_work', 'sync': 'sync',
          'gc': 'gc', 'loader': 'data_loader', 'host': 'host', 'link': 'slow_link'}
OURS = ('whatif/gpubound_v0', 'whatif/pingpong_v0', 'whatif/pingpong_v1')
PUBLIC = ('hta_nccl_sizes', 'mi300_exposed_rccl', 'hta_many_graphs', 'dlrm8/rank0', 'dlrm8/rank2',
          'dlrm8/rank6', 'kineto_resnet50_workers0')
PARTS = ('rank', 'cause', 'stage', 'step', 'healthy')


def traces(public=True):
    paths = [ROOT / f'tests/data/{name}.json.gz' for name in OURS]
    if not public:
        return paths
    public = ROOT.parent / 'shared/traces/public'
    return paths + [p for p in (public / f'{name}.json.gz' for name in PUBLIC) if p.exists()]


def ranks(strata, folder):
    done = subprocess.run([strata, 'report', '--ranks', folder, '--json'], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def options_of(dice, fault, sizes):
    n = dice.choice(sizes)
    grouped = n >= 8 and (fault == 'link' or dice.random() < 0.2)
    options = ['-', '-', '--ranks', n, '--seed', dice.randrange(1, 10000),
               '--model', dice.choice(('queue', 'lock')), '--jitter', dice.choice((0.003, 0.01, 0.02)),
               '--per-host', dice.choice((1, 4, 8)), '--per-group', 4 if grouped else 0,
               '--target', dice.uniform(0.05, 0.2)]
    return plant.parse([str(o) for o in options] + (['--hosts'] if dice.random() < 0.5 else []))


def plan(bases, dice, fault, sizes):
    """A base on which the fault can be made as large as it should be; None when there is none."""
    paths = sorted(bases, key=lambda p: (ROOT not in p.parents, str(p)))  # wherever the project lies
    for path in dice.sample(paths, len(paths)):
        options = options_of(dice, fault, sizes)
        base = bases[path]
        what = plant.Fault(fault, dice.randrange(options.ranks), base, dice)
        size, effect = plant.choose_size(base, what, options, options.target)
        sane = size < (3 if what.rows else 4 * base.length)
        if sane and 0.5 * options.target < effect < 2 * options.target:
            return path, options, what, size
    return None


def same_stage(expected, seen):
    if expected is None:
        return True
    return seen is not None and (seen == expected or
                                 ('backward' in seen.lower() and 'backward' in expected.lower()))


def build(folder, base, options, fault, size):
    plant.write(plant.Play(base, options.ranks, options), folder / 'healthy', options)
    plant.write(plant.Play(base, options.ranks, options, fault, size), folder / 'fault', options)


def judge(strata, folder, fault):
    quiet, data = ranks(strata, folder / 'healthy'), ranks(strata, folder / 'fault')
    worst = (data['stragglers'] or [{'rank': None, 'cause': None, 'stage': None}])[0]
    step = data['step_without_straggler_us'] or data['step_us']
    off = 100 * (step / quiet['step_us'] - 1)
    good = {'rank': worst['rank'] == fault['rank'], 'cause': worst['cause'] == CAUSES[fault['kind']],
            'stage': same_stage(fault['stage'], worst['stage']), 'step': abs(off) <= 3,
            'healthy': not quiet['stragglers']}
    planted = 100 * (data['step_us'] / quiet['step_us'] - 1)
    seen = (f"rank {worst['rank']} ({fault['rank']}), {worst['cause']}, stage {worst['stage']} "
            f"({fault['stage']}), step {off:+.1f} %, planted {planted:.1f} %"
            f", healthy {[(s['rank'], s['cause'], round(s['late_us'])) for s in quiet['stragglers']][:2]}")
    return good, seen


def make(folder, args, k, bases, kind, sizes):
    """What was planted in the set, which is made unless it is there; None when it fits no trace."""
    truth = folder / 'fault.json'
    if truth.exists():
        return json.loads(truth.read_text())
    if not bases:
        bases.update({p: plant.Base(p) for p in args.traces or traces()})
    found = plan(bases, random.Random(args.seed * 100003 + k), kind, sizes)
    if not found:
        return None
    path, options, fault, size = found
    build(folder, bases[path], options, fault, size)
    truth.write_text(json.dumps({
        'kind': kind, 'rank': fault.rank, 'stage': fault.stage, 'trace': path.name.split('.')[0],
        'model': options.model, 'ranks': options.ranks, 'size': size, 'per_group': options.per_group,
        'jitter': options.jitter}))
    return json.loads(truth.read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', default=ROOT / 'build/src/strata')
    parser.add_argument('--sets', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--sizes', default='8,8,8,16,16,32,64')
    parser.add_argument('--faults', default=','.join(CAUSES))
    parser.add_argument('--csv', type=Path)
    parser.add_argument('--keep', type=Path, help='folder of the sets, which are made once')
    parser.add_argument('traces', nargs='*', type=Path)
    args = parser.parse_args()
    bases = {}
    sizes = [int(n) for n in args.sizes.split(',')]
    faults, rows = args.faults.split(','), []
    with tempfile.TemporaryDirectory() as temporary:
        for k in range(args.sets):
            folder = (args.keep or Path(temporary)) / str(k)
            fault = make(folder, args, k, bases, faults[k % len(faults)], sizes)
            if not fault:
                print(f'{faults[k % len(faults)]}: fits no trace')
                continue
            good, seen = judge(args.strata, folder, fault)
            wrong = [p for p in PARTS if not good[p]]
            rows.append([fault['kind'], fault['trace'], fault['model'], fault['ranks'], k,
                         *(int(good[p]) for p in PARTS)])
            if wrong:
                print(f"{k} {fault['kind']} {fault['trace']} {fault['model']} {fault['ranks']} ranks, "
                      f"size {fault['size']:.3g}, group {fault['per_group']}, jitter {fault['jitter']}: "
                      f"{', '.join(wrong)}: {seen}", flush=True)
            if not args.keep:
                shutil.rmtree(folder)
    passed = sum(all(r[5:]) for r in rows)
    for kind in faults:
        mine = [r for r in rows if r[0] == kind]
        print(f"{kind:8} {sum(all(r[5:]) for r in mine)} of {len(mine)}  " +
              '  '.join(f'{p} {sum(r[5 + i] for r in mine)}' for i, p in enumerate(PARTS)))
    print(f'{passed} passed, {len(rows) - passed} failed')
    if args.csv:
        with open(args.csv, 'w', newline='') as f:
            csv.writer(f).writerows([['fault', 'trace', 'model', 'ranks', 'set', *PARTS], *rows])
    return passed < 0.95 * len(rows)


if __name__ == '__main__':
    sys.exit(main())
