"""Idle time of devices and what waits of the CPU expose of it, worked out again from the trace file.

Slow and obvious on purpose: it is the yardstick for `strata gaps` and `strata syncs`. Every gap is cut
at every boundary of every span that touches it; times are integer nanoseconds.
"""
import bisect
import collections

import table_oracle

WORK = {'kernel', 'gpu_memcpy', 'gpu_memset', 'Kernel', 'Memcpy', 'Memset'}
CALLS = table_oracle.CALL_CATS
CPU = {'cpu_op': 'op', 'user_annotation': 'annotation', 'python_function': 'python'}
CPU.update({cat: 'call' for cat in CALLS})


class Row:
    def __init__(self, event):
        args = event.get('args', {})
        self.name, self.cat = event['name'], event.get('cat', '')
        self.thread = (event['pid'], event['tid'])
        self.start = table_oracle.to_ns(event['ts'])
        self.dur = max(table_oracle.to_ns(event.get('dur', 0)), 0)
        self.end = self.start + self.dur
        self.correlation = args.get('correlation')
        self.device = args.get('device')
        self.bytes = args.get('bytes', -1)
        self.launch = None


class Gap:
    def __init__(self, before, after):
        self.prev, self.next = before, after
        self.begin, self.end = before.end, after.start
        launch = after.launch
        self.late = min(max(launch.start, self.begin), self.end) if launch else self.begin


class Trace:
    def __init__(self, events):
        rows = [Row(e) for e in events if e.get('ph') == 'X' and e.get('cat')]
        self.calls = {r.correlation: r for r in rows if r.cat in CALLS and r.correlation}
        self.work = collections.defaultdict(list)
        self.threads = collections.defaultdict(list)
        self.overheads = [r for r in rows if r.cat == 'overhead' and r.name != 'Command Buffer Full']
        for r in rows:
            if r.cat in WORK:
                r.launch = self.calls.get(r.correlation)
                self.work[r.device].append(r)
            elif r.cat in CPU and r.dur > 0:
                self.threads[r.thread].append(r)
        for lane in self.threads.values():
            lane.sort(key=lambda r: (r.start, -r.dur))

    def gaps(self, device):
        """Gaps between the work of all streams, and the busy time."""
        gaps, busy, last = [], 0, None
        for r in sorted(self.work[device], key=lambda r: r.start):
            if r.dur == 0:
                continue
            if last and r.start > last.end:
                gaps.append(Gap(last, r))
            busy += max(0, r.end - (max(r.start, last.end) if last else r.start))
            if last is None or r.end > last.end:
                last = r
        return gaps, busy

    def doing(self, thread, begin, end):
        """Time of each kind of row in [begin, end): the row that started last counts."""
        rows = [r for r in self.threads[thread] if r.start < end and r.end > begin]
        cuts = sorted({begin, end} | {t for r in rows for t in (r.start, r.end) if begin < t < end})
        sums = collections.Counter()
        for a, b in zip(cuts, cuts[1:]):
            over = [r for r in rows if r.start <= a and r.end >= b]
            deepest = max(over, key=lambda r: (r.start, -r.dur), default=None)
            sums[CPU[deepest.cat] if deepest else 'untraced'] += b - a
        return sums

    def late_kinds(self, gap):
        """What the launching thread did before the launch, without the recorder's own cost."""
        sums, at = collections.Counter(), gap.begin
        for r in sorted(self.overheads, key=lambda r: r.start):
            a, b = max(r.start, at), min(r.end, gap.late)
            if b <= a:
                continue
            sums += self.doing(gap.next.launch.thread, at, a)
            sums['overhead'] += b - a
            at = b
        return sums + self.doing(gap.next.launch.thread, at, gap.late)


class Wait:
    def __init__(self, calls, waited):
        self.begin = calls[0].start
        self.cost = sum(c.dur for c in calls)
        self.thread = calls[0].thread
        self.drains = waited >= 50_000
        self.exposed = 0


def waits(trace, device):
    """Synchronize calls with the copy directly before them. Good for traces whose waits are all of
    this kind, on one stream."""
    found, copy = [], None
    work = sorted((w for w in trace.work[device] if w.launch), key=lambda w: w.launch.start)
    launched = [w.launch.start for w in work]
    for call in sorted(trace.calls.values(), key=lambda c: c.start):
        if call.name == 'cudaMemcpyAsync':
            copy = call
        elif call.name.endswith('Synchronize'):
            calls = [copy, call] if copy and call.start - copy.end < 10_000 else [call]
            queued = work[:bisect.bisect_left(launched, calls[0].start)]
            done = max((w.end for w in queued), default=0)
            found.append(Wait(calls, min(done, call.end) - calls[0].start))
            copy = None
    return found


def expose(trace, device):
    """Idle time before launches, charged to the waits before them: latest first, up to what they
    cost, none older than the last drain."""
    all_waits = waits(trace, device)
    for gap in trace.gaps(device)[0]:
        taken = 0
        before = [w for w in all_waits if w.begin < gap.late]
        for i, w in enumerate(before):
            if w.drains:
                last_drain = i
        first = last_drain if any(w.drains for w in before) else 0
        for w in reversed(before[first:]):
            room = gap.late - max(gap.begin, w.begin) - taken
            pay = max(0, min(room, w.cost - w.exposed))
            w.exposed += pay
            taken += pay
    return sum(w.exposed for w in all_waits)
