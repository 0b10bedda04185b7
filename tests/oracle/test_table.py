#!/usr/bin/env python3
"""Compares `strata table --json` with an oracle and with torch's own tables.

    test_table.py --strata BINARY DATA-FOLDER...

For every trace under the folders: all rows, in order, equal the oracle's to the nanosecond and the
byte, however they are grouped. Beside a trace there may be torch's word on it: NAME.txt (the
printed table; every figure to the printed digit) or NAME.expected.json.gz (every attribute). Stacks
are not compared where there is a backward pass: torch puts part of it under the call of backward(),
where we have the line of the forward operator.
"""
import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import table_oracle
from traces import find_traces

sys.setrecursionlimit(100000)
FIELDS = (  # oracle's name, strata's key, strata's unit in the oracle's
    ('calls', 'calls', 1), ('self_cpu', 'self_cpu_us', 1000), ('cpu_total', 'cpu_total_us', 1000),
    ('self_device', 'self_device_us', 1000), ('device_total', 'device_total_us', 1000),
    ('cpu_mem', 'cpu_mem_bytes', 1), ('self_cpu_mem', 'self_cpu_mem_bytes', 1),
    ('device_mem', 'device_mem_bytes', 1), ('self_device_mem', 'self_device_mem_bytes', 1),
    ('flops', 'flops', 1),
)
ATTRIBUTES = {  # torch's attribute -> oracle's name, factor
    'count': ('calls', 1), 'self_cpu_time_total': ('self_cpu', 1000),
    'cpu_time_total': ('cpu_total', 1000), 'self_device_time_total': ('self_device', 1000),
    'device_time_total': ('device_total', 1000), 'cpu_memory_usage': ('cpu_mem', 1),
    'self_cpu_memory_usage': ('self_cpu_mem', 1), 'device_memory_usage': ('device_mem', 1),
    'self_device_memory_usage': ('self_device_mem', 1), 'flops': ('flops', 1),
}
# In whole microseconds torch rounds starts and ends where the file has a rounded duration.
COUNTS = {'count': ('calls', 1), 'flops': ('flops', 1)}


class StrataRow:
    """A row of our JSON in the oracle's words."""

    def __init__(self, row):
        self.name, self.is_annotation = row['name'], row['is_annotation']
        self.is_device = row['device'] != 'cpu'
        self.group = (json.dumps(row['input_shapes']) if 'input_shapes' in row else
                      '\n'.join(row['stack']) if 'stack' in row else row.get('module', ''))
        for name, key, factor in FIELDS:
            setattr(self, name, round(row[key] * factor))


class StrataTable:
    def __init__(self, strata, trace, *options):
        done = subprocess.run(
            [strata, "table", "--json", "--whole", "--sort", "first", *options, trace],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        data = json.loads(done.stdout)
        self.rows = [StrataRow(r) for r in data['rows']]
        self.self_cpu = round(data['totals']['self_cpu_us'] * 1000)
        self.self_device = round(data['totals']['self_device_us'] * 1000)


def identity(row):
    return row.name, row.is_device, row.is_annotation, row.group


def compare(ours, theirs, say):
    """Exact comparison with the oracle, row by row."""
    if [identity(r) for r in ours.rows] != [identity(r) for r in theirs.rows]:
        a, b = [identity(r) for r in ours.rows], [identity(r) for r in theirs.rows]
        say(f'rows differ: only ours {[r for r in a if r not in b][:3]}, '
            f'only the oracle\'s {[r for r in b if r not in a][:3]}, or the order')
        return
    for r, o in zip(ours.rows, theirs.rows):
        for name, _, _ in FIELDS:
            if getattr(r, name) != getattr(o, name):
                say(f'{identity(r)} {name}: {getattr(r, name)}, oracle {getattr(o, name)}')
    for name in ('self_cpu', 'self_device'):
        if getattr(ours, name) != getattr(theirs, name):
            say(f'footer {name}: {getattr(ours, name)}, oracle {getattr(theirs, name)}')


# ---- torch's printed table

TIME = {'s': 10**9, 'ms': 10**6, 'us': 10**3}
BYTES = {'B': 1, 'KB': 2**10, 'MB': 2**20, 'GB': 2**30}


def printed(text):
    """A printed figure as (value, step of its last digit), both exact."""
    number, unit = re.fullmatch(r'(-?[\d.]+) ?(s|ms|us|%|B|KB|MB|GB|)', text).groups()
    scale = TIME.get(unit, BYTES.get(unit, 1))
    decimals = len(number.partition('.')[2])
    return Fraction(number) * scale, Fraction(scale, 10**decimals)


def agrees(text, value):
    """Whether an exact value prints as this text; ties of the last digit may go either way."""
    shown, step = printed(text)
    return abs(shown - Fraction(value)) * 2 <= step


def columns(device, r, t):
    """Printed columns of a row, exactly."""
    def share(part, whole):
        return Fraction(part * 100, whole) if whole else Fraction(0)
    return {
        'Self CPU %': share(r.self_cpu, t.self_cpu), 'Self CPU': r.self_cpu,
        'CPU total %': share(r.cpu_total, t.self_cpu), 'CPU total': r.cpu_total,
        'CPU time avg': Fraction(r.cpu_total, r.calls),
        f'Self {device}': r.self_device, f'Self {device} %': share(r.self_device, t.self_device),
        f'{device} total': r.device_total, f'{device} time avg': Fraction(r.device_total, r.calls),
        'CPU Mem': r.cpu_mem, 'Self CPU Mem': r.self_cpu_mem,
        f'{device} Mem': r.device_mem, f'Self {device} Mem': r.self_device_mem,
        '# of Calls': r.calls,
    }


def parse_printed(path):
    lines = path.read_text().split('\n')
    head = re.split(r'\s{2,}', lines[1].strip())
    rows = []
    for line in lines[3:]:
        if line.startswith('---'):
            break
        rows.append(dict(zip(head, re.split(r'\s{2,}', line.strip()), strict=True)))
    feet = dict(re.findall(r'^Self (\w+) time total: (\S+)$', path.read_text(), re.M))
    return head, rows, feet


def cut_name(name):
    return name if len(name) < 52 else name[:52] + '...'


def matching(row, device, table, inflated):
    """The row of ours that torch printed, and what torch made of it."""
    for r, twin in zip(table.rows, inflated.rows):
        right, wrong = columns(device, r, table), columns(device, twin, inflated)
        if cut_name(r.name) != row['Name']:
            continue
        if all(agrees(text, wrong[head]) for head, text in row.items() if head != 'Name'):
            return right, wrong
    return None, None


def compare_printed(ours, events, text, say):
    """Everything torch printed is ours, but for device time it gave to overhead rows by mistake: then
    its figure is the oracle's with that mistake repeated, and ours is smaller."""
    inflated = table_oracle.table(events, credit_overhead=True)
    inflated.rows = {identity(r): r for r in inflated.rows}
    inflated.rows = [inflated.rows[identity(r)] for r in ours.rows]
    head, rows, feet = parse_printed(text)
    device = next((h.split()[1] for h in head if h.startswith('Self ') and 'CPU' not in h), 'CUDA')
    for row in rows:
        right, wrong = matching(row, device, ours, inflated)
        if not right:
            say(f'torch printed {list(row.values())}: no row of ours is that')
            continue
        for column in right:
            is_device = column.split()[0] == device or column.split()[1] == device
            is_fair = right[column] <= wrong[column] if is_device and 'Mem' not in column else \
                right[column] == wrong[column]
            if not is_fair:
                say(f'{row["Name"]} {column}: ours {right[column]}, torch {row[column]}')
    for name, value in (('CPU', ours.self_cpu), (device, ours.self_device)):
        if name in feet and not agrees(feet[name], value):
            say(f'footer {name}: ours {value}, torch {feet[name]}')


# ---- torch's attributes

def compare_attributes(ours, inflated, expected, skipped, say):
    """Every attribute is ours; device times may have the oracle's known mistake on top."""
    rows = {identity(r): r for r in ours.rows}
    wrong = {identity(r): r for r in inflated.rows}
    attributes = ATTRIBUTES if any(r[a] % 1 for r in expected for a in r if 'time' in a) else COUNTS
    for row in expected:
        group = json.dumps(row['shapes']) if 'shapes' in row else '\n'.join(row.get('stack', []))
        key = (row['name'], row['device'] != 'cpu', row['is_annotation'], group)
        if row['name'] in skipped:
            rows.pop(key, None)
            continue
        if key not in rows:
            say(f'torch has {key}, we do not')
            continue
        for attribute, (name, factor) in attributes.items():
            if attribute == 'flops' and not row['flops']:
                continue  # not counted unless asked for
            mine = getattr(rows[key], name)
            torchs = getattr(wrong[key], name) if 'device_time' in attribute else mine
            if abs(row[attribute] * factor - torchs) > 0.5 or mine > torchs:
                say(f'{key} {attribute}: ours {mine}, torch {row[attribute]}, explained {torchs}')
        del rows[key]
    if rows:
        say(f'we have {list(rows)[:3]}, torch does not')


def check_expected(strata, trace, events, path, say):
    expected = json.loads(gzip.decompress(path.read_bytes()))
    has_backward = any(e.get('args', {}).get('Fwd thread id', 0) > 0 for e in events)
    for kind, rows in expected['tables'].items():
        if kind == 'stack' and has_backward:
            continue
        options, how = {'plain': ([], {}), 'shape': (['--by', 'shape'], {'by': 'shape'}),
                        'stack': (['--by', 'stack', '--depth', '2'], {'by': 'stack', 'depth': 2})}[kind]
        if expected['python_rows']:
            options, how = [*options, '--python'], dict(how, python=True)
        inflated = table_oracle.table(events, credit_overhead=True, **how)
        compare_attributes(StrataTable(strata, trace, *options), inflated, rows,
                           expected['end_not_recorded'], lambda m, kind=kind: say(f'by {kind}: {m}'))


# ---- the same recording as other releases would have written it

CATS_OF_2021 = {'cpu_op': 'Operator', 'user_annotation': 'User', 'cuda_runtime': 'Runtime',
                'cuda_driver': 'Runtime', 'kernel': 'Kernel', 'gpu_memcpy': 'Memcpy', 'gpu_memset': 'Memset'}


def is_call_or_work(event):
    return 'correlation' in event.get('args', {})


def ids_are_copies(events):
    """torch 1.12 to 2.2: calls and device work have the correlation id for an External id."""
    return [dict(e, args=dict(e['args'], **{'External id': e['args']['correlation']}))
            if is_call_or_work(e) else e for e in events]


def as_in_2021(events):
    """Other categories, streams by name, and no link from device work to operators."""
    out = []
    for e in events:
        if e.get('cat') == 'gpu_user_annotation':
            continue
        e = dict(e, cat=CATS_OF_2021.get(e.get('cat'), e.get('cat')))
        if is_call_or_work(e):
            e['args'] = {k: v for k, v in e['args'].items() if k != 'External id'}
            if e['cat'] in ('Kernel', 'Memcpy', 'Memset'):
                e['tid'] = f'stream {e["tid"]}'
        out.append(e)
    return out


def two_ranks(events):
    """Merged as serving frameworks do it: all ids twice, processes told apart by a prefix."""
    ranks = [dict(e, pid=f'[{rank}] {e["pid"]}') for rank in ('rank 0', 'rank 1')
             for e in events if 'pid' in e]
    return [e for e in ranks if e['ph'] != 'M']


def plain_json(value):
    return json.dumps(value, default=lambda d: float(d) if d % 1 else int(d))


def check_disguise(strata, events, disguise, say):
    factor = 2 if disguise is two_ranks else 1
    truth = events
    if disguise is as_in_2021:
        truth = [e for e in events if e.get('cat') != 'gpu_user_annotation']
    expected = table_oracle.table(truth)
    for r in expected.rows:
        for name, _, _ in FIELDS:
            setattr(r, name, getattr(r, name) * factor)
    expected.self_cpu, expected.self_device = expected.self_cpu * factor, expected.self_device * factor
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        f.write(plain_json({'traceEvents': disguise(events)}))
        f.flush()
        compare(StrataTable(strata, f.name), expected, say)


# ---- the tests

LARGE = 500_000  # bytes; traces above are compared by name only, to save time
GROUPINGS = (
    ('by name', [], {}), ('by shape', ['--by', 'shape'], {'by': 'shape'}),
    ('by stack', ['--by', 'stack', '--depth', '3'], {'by': 'stack', 'depth': 3}),
    ('by module', ['--by', 'module'], {'by': 'module'}), ('with Python rows', ['--python'], {'python': True}),
)


def tests_of(strata, trace):
    stem = trace.name.partition('.json')[0]
    is_large = trace.stat().st_size > LARGE
    events = table_oracle.read_events(trace)
    for title, options, how in GROUPINGS[:1] if is_large else GROUPINGS:
        yield title, lambda say, o=options, h=how: compare(
            StrataTable(strata, trace, *o), table_oracle.table(events, **h), say)
    if not is_large and any(e.get('cat') == 'kernel' for e in events):
        for disguise in (ids_are_copies, as_in_2021, two_ranks):
            yield disguise.__name__, lambda say, d=disguise: check_disguise(strata, events, d, say)
    text, expected = trace.parent / f'{stem}.txt', trace.parent / f'{stem}.expected.json.gz'
    if text.exists():
        yield 'as torch printed it', lambda say: compare_printed(
            StrataTable(strata, trace), events, text, say)
    if expected.exists():
        yield 'attribute by attribute', lambda say: check_expected(strata, trace, events, expected, say)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--strata', required=True)
    parser.add_argument('folders', nargs='+', type=Path)
    args = parser.parse_args()
    passed = failed = 0
    traces = find_traces(args.folders)
    for trace in traces:
        for title, test in tests_of(args.strata, trace):
            complaints = []
            test(complaints.append)
            passed, failed = passed + (not complaints), failed + bool(complaints)
            for c in complaints[:5]:
                print(f'{trace.name} {title}: {c}')
    print(f'{passed} passed, {failed} failed')
    return failed > 0 or passed == 0


if __name__ == '__main__':
    sys.exit(main())
