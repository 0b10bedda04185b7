#!/usr/bin/env python3
"""Compares `strata gaps` and `strata syncs` with an oracle and with HolisticTraceAnalysis.

    test_gaps.py --strata BINARY DATA-FOLDER...

For every trace with device work: busy, idle and every gap equal the oracle's to the nanosecond, the
causes add up, and what the CPU did before launches is the same by kind. HolisticTraceAnalysis, where
it is installed, says something else on every trace; each difference is reproduced here from its
reason, so that none is left unexplained.
"""
import argparse
import contextlib
import importlib.util
import io
import json
import logging
import math
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import idle_oracle
import table_oracle
from traces import find_traces

LARGE = 1 << 20
KINDS = {  # ours -> the oracle's
    'python': 'python', 'op': 'op', 'dynamo_lookup': 'op', 'annotation': 'annotation', 'sync': 'call',
    'allocation': 'call', 'runtime_call': 'call', 'untraced': 'untraced',
    'profiler_overhead': 'overhead', 'code_loading': 'overhead',
}


def ns(us):
    return round(us * 1000)


def run(strata, *args):
    done = subprocess.run([strata, *map(str, args), '--whole', '--json'], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def check_devices(data, oracle, say):
    """Window, busy, idle and the gaps, exactly; and causes that add up."""
    if sorted(d['device'] for d in data['devices']) != sorted(oracle.work):
        say(f"devices {[d['device'] for d in data['devices']]}, oracle {sorted(oracle.work)}")
        return
    for d in data['devices']:
        gaps, busy = oracle.gaps(d['device'])
        idle = sum(g.end - g.begin for g in gaps)
        causes = sum(ns(c['idle_us']) for c in data['causes'] if c['device'] == d['device'])
        for name, ours, theirs in (('busy', ns(d['busy_us']), busy), ('idle', ns(d['idle_us']), idle),
                                   ('window', ns(d['window_us']), busy + idle),
                                   ('causes', causes, idle), ('gaps', d['gaps'], len(gaps))):
            if ours != theirs:
                say(f"device {d['device']} {name}: {ours}, oracle {theirs}")
        ours = sorted((ns(g['dur_us']), ns(g['late_us'])) for g in data['gaps']
                      if g['device'] == d['device'])
        theirs = sorted((g.end - g.begin, g.late - g.begin) for g in gaps if g.end - g.begin >= 5000)
        if ours != theirs:
            say(f"device {d['device']}: {len(ours)} gaps, oracle {len(theirs)}, or other lengths")
    for g in data['gaps']:
        if sum(ns(c['idle_us']) for c in g['causes']) != ns(g['dur_us']):
            say(f"gap at {g['start_us']} us: causes do not add up to it")


def check_kinds(data, oracle, say):
    """What the launching thread did before the launches, by kind."""
    ours, theirs = {}, {}
    for g in data['gaps']:
        late = ns(g['late_us'])
        for c in g['causes']:
            if c['kind'] in KINDS:
                late -= ns(c['idle_us'])
                ours[KINDS[c['kind']]] = ours.get(KINDS[c['kind']], 0) + ns(c['idle_us'])
    for device in oracle.work:
        for g in oracle.gaps(device)[0]:
            if g.end - g.begin >= 5000 and g.next.launch:
                for kind, t in oracle.late_kinds(g).items():
                    theirs[kind] = theirs.get(kind, 0) + t
    # the recorder's cost may also lie behind the launch, where the oracle does not look
    ours.pop('overhead', None), theirs.pop('overhead', None)
    if ours != theirs:
        say(f'before launches {ours}, oracle {theirs}')


def check_exposed(strata, trace, oracle, say):
    ours = ns(run(strata, 'syncs', trace)['totals']['exposed_us'])
    theirs = sum(idle_oracle.expose(oracle, d) for d in oracle.work)
    if ours != theirs:
        say(f'exposed {ours}, oracle {theirs}')


# ---- HolisticTraceAnalysis

def hta_table(trace, method, **env):
    """A result of HTA as a list of rows. It prints, warns and writes where it pleases."""
    os.environ.update(env)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), \
            tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter('ignore')
        logging.disable(logging.CRITICAL)
        from hta.trace_analysis import TraceAnalysis
        analysis = TraceAnalysis(trace_files={0: str(trace.resolve())}, trace_dir=folder,
                                 include_last_profiler_step=True)
        try:
            result = getattr(analysis, method)(visualize=False)
        finally:
            for name in env:
                del os.environ[name]
    frame = result[0] if isinstance(result, tuple) else result
    return frame.to_dict('records')


def hta_idle_us(trace, **env):
    return hta_table(trace, 'get_temporal_breakdown', **env)[0]['idle_time(us)']


def rounded_idle_us(oracle):
    """HTA's arithmetic: starts rounded up and ends down to whole microseconds, so that short work gets
    a length of zero or less, then merged with no regard to devices."""
    spans = sorted((math.ceil(w.start / 1000), math.floor(w.end / 1000))
                   for rows in oracle.work.values() for w in rows)
    merged = []
    reach = None
    for start, end in spans:
        if reach is None or start > reach:
            merged.append([start, end])
        else:
            merged[-1] = [min(merged[-1][0], start), max(merged[-1][1], end)]
        reach = end if reach is None else max(reach, end)
    return merged[-1][1] - merged[0][0] - sum(end - start for start, end in merged)


def check_hta(data, trace, oracle, say):
    """Without its rounding HTA agrees with us; with it, the rounding is the whole difference."""
    ours = data['devices'][0]['idle_us']
    exact = hta_idle_us(trace, HTA_DISABLE_NS_ROUNDING='1')
    if abs(exact - ours) > 0.01:
        say(f'idle {ours} us, HTA without rounding {exact}')
    try:
        plain = hta_idle_us(trace)
    except AssertionError:  # its own check of its sums fails: times became negative
        if not any(w.end // 1000 < -(-w.start // 1000) for rows in oracle.work.values() for w in rows):
            say('HTA fails, and not because of its rounding')
        return
    expected = rounded_idle_us(oracle)
    if abs(plain - expected) > 0.5:
        say(f'HTA says {plain} us idle, its rounding explains {expected}')


def event(cat, name, ts, dur, tid, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'ts': ts, 'dur': dur,
            'pid': 1 if 'runtime' in cat else 0, 'tid': tid, 'args': args}


def launch(ts, kernel_ts, kernel_dur, correlation, name='gemm'):
    gpu = dict(correlation=correlation, stream=7, device=0)
    return [event('cuda_runtime', 'cudaLaunchKernel', ts, 5, 11, correlation=correlation),
            event('kernel', name, kernel_ts, kernel_dur, 7, **gpu)]


def write_trace(folder, events):
    path = Path(folder) / 'made.json'
    data = {'schemaVersion': 1, 'distributedInfo': {'rank': 0}, 'traceEvents': events}
    path.write_text(json.dumps(data))
    return path


def check_sync_records(strata, say):
    """HTA takes device-side records of a synchronize for work: 98 % idle becomes nearly none."""
    events = launch(100, 110, 10, 1) + launch(900, 990, 10, 2)
    sync = dict(correlation=3, stream=7, device=0, cuda_sync_kind='Stream Sync')
    events.append(event('cuda_runtime', 'cudaStreamSynchronize', 120, 770, 11, correlation=3))
    events.append(event('cuda_sync', 'Stream Sync', 121, 868, 7, **sync))
    with tempfile.TemporaryDirectory() as folder:
        path = write_trace(folder, events)
        ours, theirs = run(strata, 'gaps', path)['devices'][0]['idle_us'], hta_idle_us(path)
    if (ours, theirs) != (870, 2):
        say(f'idle {ours} and {theirs} us, expected 870 and, with the sync as work, 2')


def check_overlap(strata, say):
    """HTA's idle breakdown goes negative where kernels overlap on one stream."""
    events = launch(100, 110, 100, 1) + launch(120, 205, 50, 2) + launch(130, 255, 50, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = write_trace(folder, events)
        ours = run(strata, 'gaps', path)['devices'][0]['idle_us']
        theirs = sum(r['idle_time'] for r in hta_table(path, 'get_idle_time_breakdown'))
    if (ours, theirs) != (0, -5):
        say(f'idle {ours} and {theirs} us, expected 0 and, for the overlap of 5 us, -5')


def tests_of(strata, trace, with_hta):
    is_large = trace.stat().st_size > LARGE
    events = table_oracle.read_events(trace)
    oracle = idle_oracle.Trace(events)
    data = run(strata, 'gaps', trace)
    yield 'devices and gaps', lambda say: check_devices(data, oracle, say)
    if not oracle.work:
        return
    # The oracle looks at the launching thread alone; we also follow a hand-over between threads.
    launching = {(e['pid'], e['tid']) for e in events if e.get('cat') in table_oracle.CALL_CATS}
    if not is_large and len(launching) == 1:
        yield 'before launches', lambda say: check_kinds(data, oracle, say)
    if not is_large and 'whatif' in str(trace):
        yield 'exposed', lambda say: check_exposed(strata, trace, oracle, say)
    # What HTA makes of device-side sync records is shown on a trace of its own, below.
    has_syncs = any(e.get('cat') == 'cuda_sync' for e in events)
    if with_hta and not is_large and not has_syncs:
        yield 'HTA', lambda say: check_hta(data, trace, oracle, say)


def all_tests(strata, folders, with_hta):
    traces = find_traces(folders)
    for t in traces:
        for title, test in tests_of(strata, t, with_hta):
            yield t.name, title, test
    if with_hta:
        yield 'made', 'sync records', lambda say: check_sync_records(strata, say)
        yield 'made', 'overlap', lambda say: check_overlap(strata, say)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', required=True)
    parser.add_argument('folders', nargs='+', type=Path)
    args = parser.parse_args()
    with_hta = importlib.util.find_spec('hta') is not None and \
        importlib.util.find_spec('psutil') is not None
    if not with_hta:
        print('HolisticTraceAnalysis is not installed: not compared with it')
    passed = failed = 0
    for trace, title, test in all_tests(args.strata, args.folders, with_hta):
        complaints = []
        test(complaints.append)
        passed, failed = passed + (not complaints), failed + bool(complaints)
        for c in complaints[:5]:
            print(f'{trace} {title}: {c}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0 or passed == 0


if __name__ == '__main__':
    sys.exit(main())
