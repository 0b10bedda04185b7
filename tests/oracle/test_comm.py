#!/usr/bin/env python3
"""Compares the communication of `strata report` with an oracle.

    test_comm.py --strata BINARY DATA-FOLDER...

For every trace with device work: compute, communication and its exposed part equal the
oracle's to the nanosecond. Traces of other people, where they are beside the project, must show what
is known of them.
"""
import argparse
import gzip
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from traces import find_traces

PUBLIC = Path(__file__).resolve().parents[3] / 'shared/traces/public'
EXPOSED_PCT = {  # of the wall clock, computed by others
    **{f'dlrm8/rank{rank}.json.gz': pct
       for rank, pct in enumerate((38.2, 55.4, 24.6, 48.8, 36.3, 34.8, 25.0, 12.6))},
    'mi300_exposed_rccl.json.gz': 63.6,
}
BOUND = {'mi300_exposed_rccl.json.gz': 'communication', 'dlrm8/rank1.json.gz': 'communication'}
WORK = {'kernel': 'compute', 'gpu_memset': 'compute', 'gpu_memcpy': 'copy'}
WORDS = ('nccl', 'rccl', 'all_reduce', 'allreduce', 'cross_device_reduce')


def ns(us):
    return round(us * 1000)


def union(spans):
    joined = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([begin, end])
    return joined


def length(spans):
    return sum(end - begin for begin, end in union(spans))


def split(path):
    """Compute, communication, and communication alone, of the device with most work."""
    text = gzip.open(path).read() if path.suffix == '.gz' else path.read_bytes()
    doc = json.loads(text)
    events = doc['traceEvents'] if isinstance(doc, dict) else doc
    devices = {}
    for e in events:
        kind = WORK.get(e.get('cat'))
        if e.get('ph') != 'X' or kind is None:
            continue
        if e['cat'] == 'kernel' and any(w in e['name'].lower() for w in WORDS):
            kind = 'comm'
        begin = ns(e['ts'])
        spans = devices.setdefault(e['args'].get('device', e['pid']), {})
        spans.setdefault(kind, []).append((begin, begin + ns(e['dur'])))
    busiest = max(devices.values(), key=lambda d: length(sum(d.values(), [])), default={})
    comm = busiest.get('comm', [])
    others = sum((spans for kind, spans in busiest.items() if kind != 'comm'), [])
    alone = length(comm + others) - length(others)
    return length(busiest.get('compute', [])), length(comm), alone


def report(strata, path):
    done = subprocess.run([strata, 'report', path, '--whole', '--json'], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def check(strata, path, say):
    data = report(strata, path)
    ours = data['communication']
    compute, comm, alone = split(path)
    if not ours:
        return [] if not comm else say('no communication', comm)
    # Whole microseconds are exact; others are rounded twice, once in the file.
    slack = 2 * sum(c['calls'] for c in ours['collectives'])
    for key, want in (('comm_us', comm), ('exposed_us', alone)):
        if abs(ns(ours[key]) - want) > slack:
            say(f'{key} {ns(ours[key])}', want)
    if abs(ns(ours['compute_us']) - compute) > 1e-5 * compute + slack:
        say(f"compute_us {ns(ours['compute_us'])}", compute)
    if sum(ns(g['exposed_us']) for g in ours['groups']) != ns(ours['exposed_us']):
        say('groups do not add up', ours['exposed_us'])
    return []


def check_known(strata, name, say):
    data = report(strata, PUBLIC / name)
    pct = data['communication']['exposed_pct']
    if round(pct, 1) != EXPOSED_PCT[name]:
        say(f'exposed {pct} %', EXPOSED_PCT[name])
    if name in BOUND and data['bound'] != BOUND[name]:
        say(f"bound {data['bound']}", BOUND[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', required=True)
    parser.add_argument('data', nargs='+', type=Path)
    args = parser.parse_args()
    counts = {'passed': 0, 'failed': 0}

    def judge(name, test):
        wrong = []
        test(lambda got, want: wrong.append(f'{name}: {got}, oracle {want}'))
        counts['failed' if wrong else 'passed'] += 1
        print('\n'.join(wrong), end='\n' if wrong else '')

    known = [n for n in EXPOSED_PCT if (PUBLIC / n).exists()]
    for path in find_traces([d / 'comm' for d in args.data]):
        judge(path.name, lambda say, path=path: check(args.strata, path, say))
    for name in known:
        judge(name, lambda say, name=name: check(args.strata, PUBLIC / name, say))
        judge(name, lambda say, name=name: check_known(args.strata, name, say))
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return counts['failed'] > 0


if __name__ == '__main__':
    sys.exit(main())
