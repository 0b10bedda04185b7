#!/usr/bin/env python3
"""Compares `strata whatif` and `strata report` with what was measured on the machine.

    test_whatif.py --strata BINARY DATA-FOLDER...

Replayed unchanged, every trace gives its own wall clock back. For the loops in data/whatif the fixes
were made and timed, under the profiler and without it (25 interleaved rounds each; the CPU-bound
figures spread over 7 points), so predictions are held against the change of the wall clock.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

from traces import find_traces

ITEM, WALK = ('--drop-sync', '1'), ('--drop-cpu', 'cache_context')
PINGPONG_WALL_MS = '36.35'
# Fix -> measured gain in percent, under the profiler and without it.
PINGPONG = {ITEM: (2.0, 21.8), WALK: (36.1, 32.9)}
AS_TRACED_POINTS, UNDISTORTED_POINTS = 8, 12
GPUBOUND_MOST = 3.0
GPUBOUND_WALL_MS = '111.1'
# Wall clock that the fix of everything in these reports gained, in percent, and how far off we may be.
MEASURED_FIX, FIX_POINTS = {'wan_before_compile': 0.5, 'flux2_before_compile': 0.5}, 1.0


def run(strata, *args):
    done = subprocess.run([strata, *map(str, args), '--whole', '--json'], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'{args}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout)


def check_replay(strata, trace, say):
    data = run(strata, 'whatif', trace)
    if abs(data['replay_error_pct']) > 0.5:
        say(f"replay error {data['replay_error_pct']} %")
    if abs(data['replayed_us'] - data['traced_us']) > 0.005 * data['traced_us']:
        say('the stated error is not that of the figures')


def check_pingpong(strata, trace, say):
    for edit, (traced, plain) in PINGPONG.items():
        for extra in ((), ('--wall', PINGPONG_WALL_MS)):
            told = run(strata, 'whatif', trace, *edit, *extra)
            for got, truth, points in ((told['as_traced']['gain_pct'], traced, AS_TRACED_POINTS),
                                       (told['predicted_gain_pct'], plain, UNDISTORTED_POINTS)):
                if abs(got - truth) > points:
                    say(f'{" ".join(edit + extra)}: predicted {got} %, measured {truth} %')


def check_gpubound(strata, trace, say):
    for edit in (ITEM, WALK, ITEM + WALK, ('--cuda-graph', 'transformer_forward')):
        for extra in ((), ('--wall', GPUBOUND_WALL_MS)):
            got = run(strata, 'whatif', trace, *edit, *extra)['predicted_gain_pct']
            if not -GPUBOUND_MOST <= got <= GPUBOUND_MOST:
                say(f'{" ".join(edit + extra)}: predicted {got} % on a device that is never idle')


# The site of the culprit must be named, and all promises together stay near what was measured.
CULPRITS = {
    'wan_before_compile': [('scheduling_unipc_multistep.py', 'index_for_timestep'),
                           ('scheduling_unipc_multistep.py', 'multistep_uni_c_bh_update')],
    'flux2_before_compile': [('pipeline_flux2_klein.py', '_unpack_latents_with_ids'),
                             ('cache_utils.py', 'cache_context')],
}


def check_culprits(strata, trace, stem, say):
    data = run(strata, 'report', trace)
    named = [f['source'] or {} for f in data['findings']]
    for file, function in CULPRITS[stem]:
        hits = [s for s in named if (s.get('file') or '').endswith(file)
                and s.get('function') == function and (s.get('line') or 0) > 0]
        if not hits:
            say(f'{file} {function} is not among the findings')
    culprits = {function for _, function in CULPRITS[stem]}
    promised = sum(f['predicted_gain_pct'] for f in data['findings']
                   if (f['source'] or {}).get('function') in culprits)
    if abs(promised - MEASURED_FIX[stem]) > FIX_POINTS:
        say(f'{promised:.2f} % promised, {MEASURED_FIX[stem]} % measured')


def tests_of(strata, trace):
    stem = trace.name.split('.')[0]
    yield 'replay', lambda say: check_replay(strata, trace, say)
    if stem == 'pingpong_v0':
        yield 'measured gains', lambda say: check_pingpong(strata, trace, say)
    if stem == 'gpubound_v0':
        yield 'measured gains', lambda say: check_gpubound(strata, trace, say)
    if stem in CULPRITS:
        yield 'culprits', lambda say: check_culprits(strata, trace, stem, say)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', required=True)
    parser.add_argument('folders', nargs='+', type=Path)
    args = parser.parse_args()
    traces = find_traces(args.folders)
    passed = failed = 0
    for trace in traces:
        for title, test in tests_of(args.strata, trace):
            complaints = []
            test(complaints.append)
            passed, failed = passed + (not complaints), failed + bool(complaints)
            for c in complaints:
                print(f'{trace.name} {title}: {c}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0 or passed == 0


if __name__ == '__main__':
    sys.exit(main())
