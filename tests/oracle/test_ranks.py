#!/usr/bin/env python3
"""Plants faults in sets of ranks and compares what `strata report --ranks` says with what was planted.

    test_ranks.py --strata BINARY DATA-FOLDER

Sets are made by a loop of our own and, as bench/ranks does in large numbers, from traces of single
ranks. Of every set: the right rank, the right cause, a step without the straggler within 3 % of the set
made without the fault; and nobody is blamed in sets without one.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

CAUSES = {'slow': 'slow_kernel', 'clock': 'slow_clock', 'more': 'more_work', 'sync': 'sync',
          'gc': 'gc', 'loader': 'data_loader', 'host': 'host'}
ROUNDS = 3
ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT.parent / 'shared/traces/public/dlrm8'
EXPOSED_PCT = [38.2, 55.4, 24.6, 48.8, 36.3, 34.8, 25.0, 12.6]


def ranks(strata, folder):
    done = subprocess.run([strata, 'report', '--ranks', folder, '--json'], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def build(make, folder, seed, fault=None):
    dice = random.Random(seed)
    n = dice.choice((2, 4, 8, 16))
    options = [folder, '--ranks', n, '--seed', seed, '--steps', 8, '--offset-us', 10000,
               '--drift-ppm', 50]
    who = dice.randrange(n)
    step = make([str(o) for o in options + (['--fault', f'{fault}:{who}'] if fault else [])])
    return who, step


def check(strata, make, fault, seed):
    with tempfile.TemporaryDirectory() as folder:
        _, healthy_us = build(make, folder + '/healthy', seed)
        who, _ = build(make, folder + '/fault', seed, fault)
        quiet = ranks(strata, folder + '/healthy')
        data = ranks(strata, folder + '/fault')
    wrong = []
    if quiet['stragglers']:
        wrong.append(f"a straggler without a fault: {quiet['stragglers'][0]}")
    worst = (data['stragglers'] or [{'rank': None, 'cause': None}])[0]
    if (worst['rank'], worst['cause']) != (who, CAUSES[fault]):
        wrong.append(f"rank {worst['rank']}, {worst['cause']}; planted {who}, {CAUSES[fault]}")
    step = data['step_without_straggler_us']
    if step is None or abs(step - healthy_us) > 0.03 * healthy_us:
        wrong.append(f'step without straggler {step} us, made without the fault {healthy_us:.0f} us')
    return wrong


def check_known(strata):
    """Eight ranks of other people, where they are beside the project."""
    data = ranks(strata, PUBLIC)
    last = [c['last_rank'] for c in data['collectives']]
    exposed = [round(r['exposed_comm_pct'], 1) for r in data['ranks']]
    wrong = []
    if last[:4] != [7] * 4 or not set(last[5:]) <= {4, 5}:
        wrong.append(f'came last: {last}; known: 7 to the first four, 4 and 5 to the last three')
    if exposed != EXPOSED_PCT:
        wrong.append(f'exposed {exposed} %; known {EXPOSED_PCT}')
    if not data['stragglers'] or data['stragglers'][0]['rank'] != 7:
        wrong.append('rank 7 is not the first straggler')
    return wrong


def check_planted(strata):
    """One set of each fault, from the traces of single ranks in the project."""
    sys.path.insert(0, str(ROOT / 'bench/ranks'))
    import judge
    import plant
    bases = {p: plant.Base(p) for p in judge.traces(public=False)}
    for k, kind in enumerate(judge.CAUSES):
        path, options, fault, size = judge.plan(bases, random.Random(7000 + k), kind, [8])
        with tempfile.TemporaryDirectory() as folder:
            judge.build(Path(folder), bases[path], options, fault, size)
            good, seen = judge.judge(strata, Path(folder),
                                     {'kind': kind, 'rank': fault.rank, 'stage': fault.stage})
        yield '' if all(good.values()) else f'{kind} in {path.name}, {options.model}: {seen}'


def check_groups(strata):
    """In groups of four most ranks never meet the slow one: those that wait for it less wait longer
    for others instead."""
    sys.path.insert(0, str(ROOT / 'bench/ranks'))
    import judge
    import plant
    base = plant.Base(judge.traces(public=False)[1])
    options = plant.parse(['-', '-', '--ranks', '16', '--per-group', '4', '--target', '0.13'])
    fault = plant.Fault('slow', 13, base, random.Random(1))
    size, _ = plant.choose_size(base, fault, options, options.target)
    with tempfile.TemporaryDirectory() as folder:
        judge.build(Path(folder), base, options, fault, size)
        quiet, data = ranks(strata, f'{folder}/healthy'), ranks(strata, f'{folder}/fault')
    step = data['step_without_straggler_us']
    return '' if abs(step / quiet['step_us'] - 1) < 0.01 else \
        f"groups: step without straggler {step} us, made without the fault {quiet['step_us']} us"


def check_pipeline(strata, folder, make, seed):
    """Bubbles as the schedule leaves them, one stage that takes longer; nobody is to blame."""
    dice = random.Random(seed)
    stages, micro = dice.choice((2, 4, 8)), dice.choice((4, 8, 16))
    options = ['pipeline', '--ranks', stages, '--micro', micro, '--seed', seed]
    make([f'{folder}/even', *options])
    even, want = ranks(strata, f'{folder}/even'), 100 * (stages - 1) / (micro + stages - 1)
    slow = make([f'{folder}/uneven', *options, '--uneven', '1.4'])
    uneven = ranks(strata, f'{folder}/uneven')
    if even['stragglers'] or even['experts'] or not even['pipeline']:
        yield f"even pipeline: {even['stragglers']}, {even['experts']}, {even['pipeline']}"
        return
    if abs(even['pipeline']['bubble_pct'] - want) > 0.1 * want or even['pipeline']['uneven_pct'] > 1:
        yield f"even pipeline of {stages}, {micro}: {even['pipeline']}, planned {want:.1f} %"
    found = uneven['pipeline'] or {'slowest_rank': None, 'uneven_pct': 0, 'ratio': 0}
    if found['slowest_rank'] != slow or found['uneven_pct'] < 3 or abs(found['ratio'] - 1.4) > 0.05:
        yield f'stage {slow} of {stages} takes longer: {found}'


def check_experts(strata, folder, make, seed):
    """Experts with more tokens than others, in turns; with sizes recorded or not. Even ones are quiet."""
    dice = random.Random(seed)
    n, times = dice.choice((4, 8, 16)), dice.choice((1.3, 1.6, 2.0))
    options = ['experts', '--ranks', n, '--seed', seed, '--sizes', dice.choice((0, 1)),
               '--gemm', dice.choice(('grouped_gemm_', 'mlp_'))]
    make([f'{folder}/even', *options])
    make([f'{folder}/uneven', *options, '--uneven', times])
    even, uneven = ranks(strata, f'{folder}/even'), ranks(strata, f'{folder}/uneven')
    if even['stragglers'] or even['experts'] or even['pipeline']:
        yield f"even experts: {even['stragglers']}, {even['experts']}, {even['pipeline']}"
    if not uneven['experts'] or abs(uneven['experts']['ratio'] - times) > 0.05:
        yield f"uneven experts, {n} ranks, {times}: {uneven['experts']}"


def check_schedules(strata):
    sys.path.insert(0, str(ROOT / 'bench/ranks'))
    import schedule
    for seed in range(1, 4):
        for check in (check_pipeline, check_experts):
            with tempfile.TemporaryDirectory() as folder:
                yield '; '.join(check(strata, folder, schedule.make, seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', required=True)
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('data', type=Path)
    args = parser.parse_args()
    sys.path.insert(0, str(args.data / 'comm'))
    from make import make  # the builder of the traces in that folder
    wrong = check_known(args.strata) if PUBLIC.exists() else []
    print(''.join(f'{w}\n' for w in wrong), end='')
    passed, failed = int(PUBLIC.exists() and not wrong), int(bool(wrong))
    for seed in range(1, args.rounds + 1):
        for fault in CAUSES:
            wrong = check(args.strata, make, fault, seed)
            failed += bool(wrong)
            passed += not wrong
            print(''.join(f'{fault}, seed {seed}: {w}\n' for w in wrong), end='')
    for wrong in (*check_planted(args.strata), check_groups(args.strata),
                  *check_schedules(args.strata)):
        failed += bool(wrong)
        passed += not wrong
        print(f'{wrong}\n' if wrong else '', end='')
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
