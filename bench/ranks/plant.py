#!/usr/bin/env python3
"""Makes sets of ranks with one planted fault out of the trace of a single rank.

    plant.py TRACE FOLDER [--fault KIND:RANK] [--ranks N] [--seed N] [--model MODEL]

Every rank gets the same work, with jitter of its own. A rank comes to a collective when its own work
lets it; the collective ends on all ranks when the last one has come and the bytes are through. Ranks
share hosts, and each host has a clock with its own offset and drift. Traces without collectives get
all-reduces between their kernels first. How a delay travels inside a rank is the model:

    queue   the device works through what the CPU has launched: kernels wait for their launch, for their
            stream, for collectives; the CPU waits only in its own synchronizing calls
    lock    everything after a delay is later by as much, on the CPU and on the device

Faults, of one rank:

    slow     kernels of one name and stage take longer
    clock    all kernels take longer by the same factor
    more     kernels of a stage have more blocks and take longer, as with more tokens or experts
    sync     the CPU waits for the device after many launches of a stage
    gc       Python collects garbage in a stage
    loader   the batch takes longer
    host     a function of the user takes long in a stage
    link     its transfers take longer: of every group it is in (there are several)
"""
import argparse
import bisect
import gzip
import json
import random
import re
from pathlib import Path

FAULTS = ('slow', 'clock', 'more', 'sync', 'gc', 'loader', 'host', 'link')
WORK = {'kernel', 'gpu_memcpy', 'gpu_memset', 'Kernel', 'Memcpy', 'Memset'}
CALLS = {'cuda_runtime', 'cuda_driver', 'Runtime'}
HOST = {'cpu_op', 'user_annotation', 'python_function', 'Operator'} | CALLS
LOADER = 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__'
USER = 'train.py(77): log_metrics'
NCCL = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
EPOCH_US = 1e9
LATENCY_US = 6.0
NEAR_US = 30.0  # what begins so soon after something else ended waited for it


class Event:
    __slots__ = ('at', 'dur', 'row', 'kind', 'stream', 'launch', 'stage', 'gap', 'lead', 'after', 'seq')

    def __init__(self, row):
        self.at, self.dur, self.row = float(row['ts']), max(float(row.get('dur', 0)), 0.01), row
        self.launch = self.stage = self.after = self.seq = None
        self.kind = 'host'
        self.gap = self.lead = 0.0

    @property
    def end(self):
        return self.at + self.dur

    @property
    def name(self):
        return self.row['name']


def is_loop(name):
    return name.startswith('ProfilerStep#')


class Base:
    """The trace of one rank: what it does, and what waits for what."""

    def __init__(self, path, steps=2, thin_us=15.0):
        with (gzip.open if str(path).endswith('.gz') else open)(path, 'rt') as f:
            data = json.load(f)
        data = data if isinstance(data, dict) else {'traceEvents': data}
        self.head = {k: v for k, v in data.items() if k != 'traceEvents' and not isinstance(v, list)}
        rows = data['traceEvents']
        self.meta = [r for r in rows if r.get('ph') == 'M']
        rows = [r for r in rows if r.get('ph') == 'X' and r.get('dur') is not None and
                r.get('cat') in HOST | WORK]
        first = min(r['ts'] for r in rows)
        self.events = [Event(dict(r, ts=r['ts'] - first)) for r in rows]
        self.events.sort(key=lambda e: (e.at, -e.dur))
        self.set_kinds()
        self.find_steps(steps)
        self.thin(thin_us)
        if not any(e.kind == 'comm' for e in self.events):
            self.add_collectives()
        self.find_stages()
        self.find_waits()

    def set_kinds(self):
        for e in self.events:
            if e.row['cat'] in WORK:
                e.kind = 'comm' if 'nccl' in e.name.lower() else 'work'
                args = e.row.get('args', {})
                e.stream = (args.get('device'), args.get('stream', e.row.get('tid')))
            elif e.row['cat'] in CALLS and 'Synchronize' in e.name and e.dur > 20:
                e.kind = 'sync'

    def link(self):
        calls = {}
        for e in self.events:
            if e.kind in ('host', 'sync') and e.row['cat'] in CALLS:
                calls[e.row.get('args', {}).get('correlation')] = e
        for e in self.events:
            if e.kind in ('work', 'comm'):
                key = e.row.get('args', {}).get('correlation')
                e.launch = calls.get(key) if key else None

    def find_steps(self, most):
        """Keeps the first steps, and what they launch."""
        self.link()
        loop = [e for e in self.events if is_loop(e.name) and e.kind == 'host']
        if not loop:
            names = [re.sub(r'\d+', '', e.name) for e in self.events
                     if e.row['cat'] == 'user_annotation' and 'nccl:' not in e.name]
            often = [n for n in dict.fromkeys(names) if names.count(n) > 1]
            loop = [e for e in self.events if often and e.row['cat'] == 'user_annotation' and
                    re.sub(r'\d+', '', e.name) == often[0]]
        begin = loop[0].at if loop else self.events[0].at
        end = loop[min(most, len(loop)) - 1].end if loop else self.events[-1].end
        last = len(loop) <= most
        self.thread = (loop[0] if loop else self.events[0]).row
        self.steps = [e.at for e in loop[:most]] or [begin]
        self.length = end - begin

        def inside(e):
            e = e.launch or e
            return e.at >= begin - 1 and (last or e.end <= end + 1)
        self.events = [e for e in self.events if inside(e) and
                       not (e.kind in ('work', 'comm') and not e.launch)]

    def thin(self, least_us):
        """Leaves out short rows of the CPU that launch nothing."""
        launches = {id(e.launch) for e in self.events if e.launch}
        self.events = [e for e in self.events if e.kind != 'host' or e.dur >= least_us or
                       id(e) in launches or e.row['cat'] == 'user_annotation']

    def add_collectives(self):
        """All-reduces of 3 % of the trace each, behind kernels that are spread over every step."""
        works = [e for e in self.events if e.kind == 'work']
        dur = 0.03 * self.length / len(self.steps)
        every = max(len(works) // (4 * len(self.steps)), 1)
        stream = 1 + max(int(e.stream[1] or 0) for e in works)
        for k, w in reversed(list(enumerate(works[every // 2::every]))):
            key = 7_000_000 + k
            comm = Event(dict(w.row, cat='kernel', name=NCCL, ts=w.end, dur=dur, tid=stream, args={
                'device': w.stream[0], 'stream': stream, 'correlation': key, 'grid': [16, 1, 1],
                'block': [512, 1, 1], 'Collective name': 'allreduce',
                'In msg nelems': 1 << 22, 'Out msg nelems': 1 << 22, 'dtype': 'Float',
                'Process Group Name': '0', 'Process Group Description': 'default_pg'}))
            comm.kind, comm.stream = 'comm', (w.stream[0], stream)
            self.make_room(w.end, dur + 4)
            comm.at += 2
            comm.launch = Event(dict(w.launch.row, ts=w.launch.end, dur=4.0, args={'correlation': key}))
            self.events.append(comm)
            self.make_room(comm.launch.at, 4.5)
            self.events.append(comm.launch)
        self.events.sort(key=lambda e: (e.at, -e.dur))

    def make_room(self, at, dur):
        for e in self.events:
            if e.at >= at:
                e.at += dur
            elif e.end > at and e.kind not in ('work', 'comm'):
                e.dur += dur
        self.steps = [s + dur if s >= at else s for s in self.steps]
        self.length += dur

    def find_stages(self):
        """The innermost label around every launch; on threads without labels, that of the moment."""
        labels = [e for e in self.events if e.row['cat'] == 'user_annotation' and not is_loop(e.name)
                  and not e.name.startswith(('nccl:', 'enumerate('))]
        begins = [e.at for e in labels]
        for e in self.events:
            host = e.launch or e
            for k in range(bisect.bisect_right(begins, host.at) - 1, -1, -1):
                x = labels[k]
                if x.end >= host.at and x is not e and x.row['tid'] == self.thread['tid']:
                    same = x.row['tid'] == host.row['tid']
                    e.stage = x.name if same or 'backward' in x.name else None
                    break
            if e.stage is None and host.row['tid'] != self.thread['tid']:
                e.stage = 'backward'

    def find_waits(self):
        """What each row on the device waits for, besides its launch; what each sync waits for."""
        free, comm, ended = {}, None, []
        by_end = sorted((e for e in self.events if e.kind in ('work', 'comm')), key=lambda e: e.end)
        ends = [e.end for e in by_end]
        for e in self.events:
            if e.kind == 'sync':
                near = by_end[bisect.bisect(ends, e.end - NEAR_US):bisect.bisect(ends, e.end)]
                waits = [w for w in near if w.launch.at < e.at]
                e.after = waits[-1] if waits else None
            if e.kind not in ('work', 'comm'):
                continue
            before = free.get(e.stream)
            e.gap = e.at - before.end if before else 1e9
            e.seq = before
            if e.kind == 'comm':
                mine = [w for w in ended if w.launch.at < e.launch.at and w.end <= e.at + 1][-1:]
                e.after = mine[0] if mine else None
            else:
                e.after = comm if comm and comm.end <= e.at + 1 else None
            bound = e.gap < 4 or (e.after and e.at - e.after.end < NEAR_US)
            e.lead = min(e.at - e.launch.at, LATENCY_US) if bound else e.at - e.launch.at
            free[e.stream] = e
            if e.kind == 'comm':
                comm = e
            else:
                ended = ended[-64:] + [e]


class Fault:
    """What one rank does in addition: factors of rows on the device, time of the CPU."""

    def __init__(self, kind, rank, base, dice):
        self.kind, self.rank, self.base = kind, rank, base
        self.stage = self.name = None
        self.rows, self.points = set(), []
        works = [e for e in base.events if e.kind == 'work' and 'emcpy' not in e.name]
        stages = {}
        for e in works:
            stages[e.stage] = stages.get(e.stage, 0) + e.dur
        total = sum(stages.values())
        wide = [s for s in stages if s and stages[s] > 0.15 * total] or [max(stages, key=stages.get)]
        if kind in ('slow', 'more', 'sync', 'gc', 'host'):
            self.stage = dice.choice(sorted(wide, key=str))
        if kind in ('slow', 'more'):
            names = {}
            for e in works:
                if e.stage == self.stage:
                    names[e.name] = names.get(e.name, 0) + e.dur
            order = sorted(names, key=names.get, reverse=True)
            pick = set(order[:1 if kind == 'slow' else 4])
            self.name = order[0]
            self.rows = {id(e) for e in works if e.stage == self.stage and e.name in pick}
        elif kind == 'clock':
            self.rows = {id(e) for e in works}
        elif kind == 'link':
            self.rows = {id(e) for e in base.events if e.kind == 'comm'}
        else:
            self.set_points(dice)

    def set_points(self, dice):
        """Where the CPU is held up: (time, row of the thread)."""
        launches = [e.launch for e in self.base.events if e.kind == 'work' and
                    (self.stage is None or e.stage == self.stage)]
        for k, begin in enumerate(self.base.steps):
            end = self.base.steps[k + 1] if k + 1 < len(self.base.steps) else 1e18
            inside = sorted((x for x in launches if begin <= x.at < end), key=lambda x: x.at)
            if self.kind == 'loader':
                loads = [e for e in self.base.events if e.name.startswith('enumerate(DataLoader)') and
                         begin - 1 <= e.at < end]
                self.points.append((loads[0].at + 0.001, loads[0].row) if loads else
                                   (begin + 0.001, self.base.thread))
            elif inside:
                some = inside[::max(len(inside) // 24, 1)] if self.kind == 'sync' else \
                    [inside[dice.randrange(len(inside) // 2 + 1)]]
                self.points += [(x.end, x.row) for x in some]


class Rank:
    """Jitter of one rank, the same with and without the fault."""

    def __init__(self, rank, seed, jitter):
        dice = random.Random(seed * 1000 + rank)
        self.rank, self.dice, self.jitter = rank, dice, jitter
        self.speed = 1 + dice.uniform(0, jitter / 4)

    def slower(self):
        return self.speed * (1 + self.dice.uniform(0, self.jitter))


class Play:
    """One run of all ranks; begins and ends of all rows, per rank."""

    def __init__(self, base, ranks, options, fault=None, size=0.0):
        self.base, self.n, self.fault, self.size = base, ranks, fault, size
        self.ranks = [Rank(r, options.seed, options.jitter) for r in range(ranks)]
        self.host = [0.0] * ranks  # by how much the CPU is later than in the base
        self.begins, self.ends, self.extra = {}, {}, []
        self.lock = options.model == 'lock'
        self.per_group = options.per_group
        self.count = 0
        self.run()

    def group(self, rank, nth):
        """Groups of neighbours and groups across them, alternately."""
        if not self.per_group:
            return 'world'
        return f'row{rank // self.per_group}' if nth % 2 == 0 else f'column{rank % self.per_group}'

    def moments(self):
        last = self.base.events[-1].at + 1e9
        for e in self.base.events:
            yield e.at, 2, 'begin', e
            yield min(e.end, last), 0, 'end', e
        for at in self.base.steps:
            yield at, 1, 'step', None
        if self.fault:
            for at, row in self.fault.points:
                yield at, 1, 'hold', row

    def run(self):
        for at, _, what, e in sorted(self.moments(), key=lambda m: m[:2]):
            if what == 'step':
                self.host = [h + r.dice.uniform(0, r.jitter * 200) for h, r in zip(self.host, self.ranks)]
            elif what == 'hold':
                self.hold(at, e)
            elif what == 'begin' and e.kind in ('work', 'comm'):
                self.work(e)
            elif what == 'begin':
                self.begins[id(e)] = (at, self.host)
            elif e.kind == 'sync' and not self.lock:
                self.sync(e)
            elif e.kind in ('host', 'sync'):
                self.ends[id(e)] = (at, self.host)
            elif self.lock:
                self.host = [max(h, x - e.end) for h, x in zip(self.host, self.ends[id(e)][1])]

    def hold(self, at, row):
        r, kind = self.fault.rank, self.fault.kind
        begin, dur = at + self.host[r], self.size
        if kind == 'sync':
            done = max((self.ends[i][1][r] for i in self.launched[-3:]), default=0) \
                if getattr(self, 'launched', None) else 0
            dur = max(done + 4 - begin, 4) if not self.lock else dur
        names = {'gc': ('user_annotation', 'Python GC'), 'loader': ('user_annotation', LOADER),
                 'host': ('python_function', USER), 'sync': ('cuda_runtime', 'cudaStreamSynchronize')}
        cat, name = names[kind]
        if not (kind == 'loader' and row['name'].startswith('enumerate(')):
            self.extra.append((begin, dur, dict(row, cat=cat, name=name, args={})))
        else:
            begin += 0.01
        if kind == 'sync':
            dur += 3
            self.extra.append((begin - 0.01, dur, dict(row, cat='cpu_op', name='aten::item', args={})))
        self.host = list(self.host)
        self.host[r] += dur + 0.02

    def starts(self, e):
        if self.lock:
            return [e.at + h for h in self.host]
        at, shift = self.begins[id(e.launch)]
        start = [at + h + e.lead for h in shift]
        for other, gap in ((e.seq, min(e.gap, 1.5)), (e.after, 2.0)):
            if other is not None:
                start = [max(s, x + gap) for s, x in zip(start, self.ends[id(other)][1])]
        return start

    def work(self, e):
        start = self.starts(e)
        dur = [e.dur * r.slower() for r in self.ranks]
        f = self.fault
        if f and id(e) in f.rows and f.kind != 'link':
            dur[f.rank] *= 1 + self.size
        end = [s + d for s, d in zip(start, dur)]
        if e.kind == 'comm':
            end = self.meet(e, start)
        self.begins[id(e)] = (0, start)
        self.ends[id(e)] = (0, end)
        self.launched = getattr(self, 'launched', [])[-8:] + [id(e)]

    def meet(self, e, start):
        groups, end = {}, [0.0] * self.n
        for r in range(self.n):
            groups.setdefault(self.group(r, self.count), []).append(r)
        self.count += 1
        for members in groups.values():
            dur = e.dur * random.Random(int(e.at) + members[0]).uniform(1, 1.02)
            if self.fault and self.fault.kind == 'link' and self.fault.rank in members:
                dur *= 1 + self.size
            done = max(start[r] for r in members) + dur
            for r in members:
                end[r] = done + self.ranks[r].dice.uniform(0, 2)
        return end

    def sync(self, e):
        at, shift = self.begins[id(e)]
        end = [at + h + (e.dur if e.after is None else 3) for h in shift]
        if e.after is not None:
            wait = max(e.end - e.after.end, 2)
            end = [max(x, d + wait) for x, d in zip(end, self.ends[id(e.after)][1])]
        self.ends[id(e)] = (0, end)
        self.host = [x - e.end for x in end]

    def times(self, e):
        at, begin = self.begins[id(e)]
        to, end = self.ends[id(e)]
        return at, begin, to, end

    def end_us(self, kinds):
        return max(max(self.ends[id(e)][1]) for e in self.base.events if e.kind in kinds)


def template(row, more=None):
    fixed = {k: v for k, v in row.items() if k not in ('ts', 'dur')}
    if more:
        fixed['args'] = dict(row.get('args', {}), **more)
    return json.dumps(fixed)[:-1].replace('%', '%%') + ',"ts":%.3f,"dur":%.3f}'


def grown(row, size):
    grid = row.get('args', {}).get('grid')
    if not grid:
        return {}
    return {'grid': [int(grid[0] * (1 + size) + 0.999), *grid[1:]]}


def write(play, folder, options):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    base, fault = play.base, play.fault
    plain = {id(e): template(e.row) for e in base.events}
    nth = {id(e): k for k, e in enumerate(x for x in base.events if x.kind == 'comm')}
    for r in range(play.n):
        lines, values = [], []
        clock = random.Random(options.seed * 77 + r // options.per_host)
        offset = clock.uniform(-1, 1) * options.offset_us
        drift = 1 + clock.uniform(-1, 1) * options.drift_ppm * 1e-6
        zero = base.events[0].at
        for e in base.events:
            at, begin, to, end = play.times(e)
            b, d = at + begin[r], max(to + end[r] - at - begin[r], 0.001)
            text = plain[id(e)]
            if e.kind == 'comm' and play.per_group:
                name = play.group(r, nth[id(e)])
                text = template(e.row, {'Process Group Name': name, 'Process Group Description': name,
                                        'Process Group Ranks': '', 'Group size': play.per_group})
            if fault and fault.kind == 'more' and r == fault.rank and id(e) in fault.rows:
                text = template(e.row, grown(e.row, play.size))
            lines.append(text)
            values += (EPOCH_US + offset + (b - zero) * drift, d * drift)
        for b, d, row in play.extra if fault and r == fault.rank else ():
            lines.append(template(row))
            values += (EPOCH_US + offset + (b - zero) * drift, d * drift)
        head = dict(base.head, distributedInfo={'backend': 'nccl', 'rank': r, 'world_size': play.n})
        if options.hosts:
            head['hostname'] = f'node{r // options.per_host}'
        meta = ',\n'.join(json.dumps(m) for m in base.meta)
        body = (',\n'.join(lines)) % tuple(values)
        (folder / f'rank{r}.json').write_text(
            json.dumps(head)[:-1] + ', "traceEvents": [\n' + (meta + ',\n' if meta else '') + body + '\n]}\n')


def choose_size(base, fault, options, target):
    """How large the fault must be for the run, and its collectives, to end later by `target`."""
    few = argparse.Namespace(**vars(options))
    most = max(fault.rank + 1, options.per_group or 2, 2)
    quiet = Play(base, most, few)
    zero = base.events[0].at
    size = {'sync': 10.0}.get(fault.kind, target)
    if fault.kind in ('gc', 'loader', 'host') or (fault.kind == 'sync' and options.model == 'lock'):
        size = target * base.length / max(len(fault.points), 1)
    for _ in range(6):
        play = Play(base, most, few, fault, size)
        effect = min((play.end_us(kinds) - quiet.end_us(kinds)) / (quiet.end_us(kinds) - zero)
                     for kinds in (('comm',), ('work', 'comm')))
        if 0.7 * target < effect < 1.5 * target:
            break
        size *= min(max(target / max(effect, 1e-3), 0.3), 4)
    return size, effect


def parse(args=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('trace', type=Path)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--fault')
    parser.add_argument('--ranks', type=int, default=8)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--model', choices=('queue', 'lock'), default='queue')
    parser.add_argument('--jitter', type=float, default=0.01)
    parser.add_argument('--per-host', type=int, default=4)
    parser.add_argument('--per-group', type=int, default=0)
    parser.add_argument('--hosts', action='store_true')
    parser.add_argument('--offset-us', type=float, default=10000)
    parser.add_argument('--drift-ppm', type=float, default=50)
    parser.add_argument('--target', type=float, default=0.1)
    return parser.parse_args(args)


def main():
    options = parse()
    base = Base(options.trace)
    fault = None
    size = effect = 0.0
    if options.fault:
        kind, _, who = options.fault.partition(':')
        fault = Fault(kind, int(who), base, random.Random(options.seed))
        size, effect = choose_size(base, fault, options, options.target)
        print(f'{kind} of rank {who} in {fault.stage}: size {size:.3g}, {100 * effect:.1f} % longer')
    write(Play(base, options.ranks, options, fault, size), options.folder, options)


if __name__ == '__main__':
    main()
