"""What torch.profiler's key_averages() says, worked out again from the trace file alone.

Slow and obvious on purpose: it is the yardstick for `strata table`. One Span per event, one list per
thread, one dictionary for the groups. Times are integer nanoseconds.

With credit_overhead it also repeats a mistake of torch 2.11 to 2.13 (pytorch #193392): a profiler
overhead record has no id of its own, takes the id of the operator it nests in, and is then credited
with that operator's kernels once more.
"""
import bisect
import collections
import gzip
import json
import math
from decimal import Decimal

OP_CATS = {'cpu_op', 'Operator'}
CALL_CATS = {
    'cuda_runtime', 'cuda_driver', 'Runtime', 'hip_runtime', 'hip_driver', 'xpu_runtime', 'xpu_driver',
    'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver', 'library_call',
}
# Recordings of strata: ranges that a library marks (XLA's operations, 'nvtx') and calls of a compiled
# function ('strata_derived'). They are no operators of torch: they have CPU time and no kernels of their own.
LIBRARY_CATS = {'nvtx', 'strata_derived'}
CPU_CATS = OP_CATS | CALL_CATS | LIBRARY_CATS | {'user_annotation', 'User', 'overhead'}
DEVICE_CATS = {
    'kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_user_annotation', 'cuda_sync', 'xpu_sync', 'hip_sync',
    'cuda_event', 'Kernel', 'Memcpy', 'Memset', 'mtia_ccp_events', 'hpu_op',
}
ANNOTATION_CATS = {'user_annotation', 'User', 'strata_derived', 'gpu_user_annotation'}
NEVER_ROWS = {
    'profiler::_record_function_enter', 'profiler::_record_function_enter_new',
    'profiler::_record_function_exit', 'aten::is_leaf', 'aten::output_nr', 'aten::_version',
}
CPU_MEMORY = {0, 2, 5}
DEVICE_MEMORY = {1, 6, 12, 20}


class Span:
    def __init__(self, event):
        args = event.get('args', {})
        self.name, self.cat = event['name'], event.get('cat', '')
        self.thread = self.home = (
            event["pid"],
            event["tid"],
        )  # torch counts calls of other threads with main
        self.start = to_ns(event['ts'])
        self.end = self.start + max(to_ns(event.get('dur', 0)), 0)
        self.external_id = args.get('External id', args.get('external id')) or None
        self.correlation = args.get('correlation')
        self.dims, self.types = args.get('Input Dims'), args.get('Input type')
        self.concrete = args.get('Concrete Inputs')
        self.sequence, self.fwd_thread = args.get('Sequence number', -1), args.get('Fwd thread id', 0)
        self.is_device = self.cat in DEVICE_CATS
        self.is_annotation = self.cat in ANNOTATION_CATS
        self.is_call = self.cat in CALL_CATS
        self.is_op = self.cat in OP_CATS
        self.is_frame = self.cat == 'python_function'
        self.parent = None
        self.children = []
        self.kernels = []
        self.launch = None
        self.frames = []  # Python frames around it, innermost first
        self.cpu_bytes = self.device_bytes = 0

    @property
    def dur(self):
        return self.end - self.start

    def device_total(self):
        return sum(self.kernels) + sum(c.device_total() for c in self.children)


def to_ns(us):
    return int((Decimal(us) * 1000).to_integral_value())


def read_events(path):
    opener = gzip.open if str(path).endswith('.gz') else open
    with opener(path, 'rb') as f:
        trace = json.loads(f.read(), parse_float=Decimal)
    return trace if isinstance(trace, list) else trace['traceEvents']


def is_finished(event):
    """torch 1 wrote spans still open with an end before the beginning of time."""
    return event.get('args', {}).get('finished') is not False and to_ns(event.get('dur', 0)) > -2**63


def read_spans(events, frames):
    """Spans in file order, and memory events as (ns, cpu bytes, device bytes, name)."""
    spans, memory = [], []
    cats = CPU_CATS | DEVICE_CATS | ({'python_function'} if frames else set())
    for e in events:
        name, args = e.get('name'), e.get('args', {})
        if e.get('ph') in ('i', 'I') and name in ('[memory]', '[OutOfMemory]'):
            kind, size = args.get('Device Type'), args.get('Bytes', 0)
            memory.append((to_ns(e['ts']), size if kind in CPU_MEMORY else 0,
                           size if kind in DEVICE_MEMORY else 0, name))
        elif e.get('ph') == 'X' and e.get('cat') in cats:
            if name not in NEVER_ROWS and is_finished(e):
                spans.append(Span(e))
    return spans, memory


def narrow_annotations(spans):
    """Takes back what Kineto adds to device-side annotations: 2 ns today, 1 us in files of whole us."""
    work = {(s.thread, s.start) for s in spans if s.is_device and not s.is_annotation}
    notes = [s for s in spans if s.is_device and s.is_annotation]
    for note in notes:
        for late, excess in ((0, 0), (1, 2), (1000, 1000)):
            if (note.thread, note.start + late) in work:
                for n in notes:
                    n.end -= excess
                return


def main_thread(spans):
    """The thread that stopped the profiler: torch synchronizes the device there, outside any operator."""
    syncs = [s for s in spans if s.is_call and not s.external_id and s.name.endswith('DeviceSynchronize')]
    if syncs:
        return max(syncs, key=lambda s: s.start).thread
    ops = [s for s in spans if s.is_op or s.cat in ('user_annotation', 'strata_derived')]
    steps = [s.thread for s in ops if s.name.startswith('ProfilerStep#')]
    first = [s.thread for s in ops if s.thread[0] == s.thread[1]]
    most = collections.Counter(s.thread for s in ops).most_common(1)
    return (steps or first or [t for t, _ in most] or [None])[0]


def ids_usable(spans):
    linked = [s for s in spans if s.is_device and not s.is_annotation and s.external_id]
    return any(s.external_id != s.correlation for s in linked)


def link(spans):
    """Gives each operator its kernels, each device span its launch, each runtime call its thread."""
    ops = {s.external_id: s for s in spans if s.is_op and s.external_id}
    calls = {s.correlation: s for s in spans if s.is_call}
    main, usable = main_thread(spans), ids_usable(spans)
    around = {} if usable else operators_around_calls(spans)
    for s in spans:
        owner = ops.get(s.external_id) if usable else around.get(id(s))
        if s.is_call:
            s.thread = owner.thread if owner else main
        elif s.cat == 'overhead':
            s.thread = main
        elif s.is_device and not s.is_annotation:
            s.launch = calls.get(s.correlation)
            owner = ops.get(s.external_id) if usable else around.get(id(s.launch))
            if owner:
                owner.kernels.append(s.dur)


def operators_around_calls(spans):
    """id(call) -> innermost operator around it on its own thread."""
    owner = {}
    for row in by_thread(s for s in spans if s.is_call or s.is_op):
        stack = []
        for s in row:
            while stack and (s.start >= stack[-1].end or s.end > stack[-1].end):
                stack.pop()
            if s.is_op:
                stack.append(s)
            elif stack:
                owner[id(s)] = stack[-1]
    return owner


def by_thread(spans):
    threads = collections.defaultdict(list)
    for s in spans:
        threads[s.thread].append(s)
    return [sorted(row, key=lambda s: (s.start, -s.end)) for row in threads.values()]


def nest(spans):
    for row in by_thread(s for s in spans if not s.is_device):
        stack = []
        for s in row:
            while stack and (s.start >= stack[-1].end or s.end > stack[-1].end):
                stack.pop()
            if stack:
                stack[-1].children.append(s)
                s.parent = stack[-1]
            stack.append(s)


def find_frames(spans):
    """The Python frames around every CPU span; the backward pass has those of the forward operator with
    its sequence number; device spans take those of their launch, on the thread that made it."""
    backward = []
    forward = {}
    for row in by_thread(s for s in spans if not s.is_device):
        stack = []
        for s in row:
            while stack and (s.start >= stack[-1].end or s.end > stack[-1].end):
                stack.pop()
            s.frames = [f.name for f in reversed(stack) if f.is_frame]
            stack.append(s)
            undoing = [b for b in stack if b.is_op and b.fwd_thread > 0 and b.sequence >= 0]
            if undoing:
                backward.append((s, undoing[-1].sequence))
            elif s.is_op and s.sequence >= 0:
                first = forward.setdefault(s.sequence, s)
                forward[s.sequence] = min(first, s, key=lambda f: f.start)
    for s, sequence in backward:
        if sequence in forward:
            s.frames = forward[sequence].frames
    at_home = frames_at_home(spans)
    for s in spans:
        if s.is_device and s.launch:
            s.frames = at_home.get(id(s.launch), s.launch.frames)


def frames_at_home(spans):
    """id(call) -> the frames around it on its own thread, of calls that torch counts with another one."""
    found = {}
    frames = [s for s in spans if s.is_frame]
    for call in (s for s in spans if s.is_call and s.thread != s.home):
        around = [f for f in frames if f.thread == call.home and f.start <= call.start and call.end <= f.end]
        found[id(call)] = [f.name for f in sorted(around, key=lambda f: (-f.start, f.end))]
    return found


def merge_same_name(spans):
    """An only child with its parent's name is the same call seen twice: keep the parent."""
    kept = []
    for s in spans:
        p = s.parent
        if p and p.name == s.name and len(p.children) == 1:
            p.children, p.kernels = s.children, s.kernels
            for c in s.children:
                c.parent = p
        else:
            kept.append(s)
    return kept


def count_memory(spans, memory):
    """Charges allocator events to every CPU span over them; the others become rows of their own."""
    memory.sort(key=lambda m: m[0])
    times = [m[0] for m in memory]
    inside = [False] * len(memory)
    for s in spans:
        if s.is_device:
            continue
        for i in range(bisect.bisect_left(times, s.start), bisect.bisect_right(times, s.end)):
            s.cpu_bytes += memory[i][1]
            s.device_bytes += memory[i][2]
            inside[i] = True
    for m, covered in zip(memory, inside):
        if not covered or m[3] == '[OutOfMemory]':
            s = Span({'name': m[3], 'pid': 'memory', 'tid': id(m), 'ts': 0})
            s.start = s.end = m[0]
            s.cpu_bytes, s.device_bytes = m[1], m[2]
            spans.append(s)


def flops(s):
    """with_flops' own formulas."""
    def is_tensor(i):
        return i < len(s.types or []) and s.types[i] not in ('', 'Scalar', 'ScalarList', 'TensorList')

    def matmul(i, batched):
        if not (is_tensor(i) and is_tensor(i + 1)) or not s.dims[i]:
            return 0
        a, b = s.dims[i], s.dims[i + 1]
        batch = a[0] if batched else 1
        return 2 * math.prod(a) // a[-1] // batch * math.prod(b) if a[-1] and batch else 0

    def conv2d():
        try:
            stride, padding, dilation, groups = (json.loads(t) for t in s.concrete[3:7])
            (n, c_in, *size), (c_out, _, *kernel) = s.dims[0], s.dims[1]
            out = [(x + 2 * p - d * (k - 1) - 1) // st + 1
                   for x, p, d, k, st in zip(size, padding, dilation, kernel, stride, strict=True)]
        except (ValueError, TypeError):
            return 0
        return 2 * n * math.prod(out) * math.prod(kernel) * c_in * c_out // groups

    if not s.is_op or not s.dims:
        return 0
    return {
        'aten::mm': lambda: matmul(0, False), 'aten::addmm': lambda: matmul(1, False),
        'aten::bmm': lambda: matmul(0, True), 'aten::baddbmm': lambda: matmul(1, True),
        'aten::mul': lambda: math.prod(s.dims[0]) if is_tensor(0) else 0,
        'aten::add': lambda: math.prod(s.dims[0]) if is_tensor(0) else 0,
        'aten::conv2d': conv2d,
    }.get(s.name, lambda: 0)()


def row_name(s):
    return 'ProfilerStep*' if s.name.startswith('ProfilerStep#') else s.name


def flat_shapes(dims):
    """torch groups by plain tensors only: a list of tensors counts as []."""
    return [[] if d and isinstance(d[0], list) else d for d in dims or []]


def group_text(s, by, depth):
    if by == 'shape':
        return json.dumps(flat_shapes(s.dims))
    if by == 'stack':
        return '\n'.join(s.frames[:depth])
    if by == 'module':
        modules = [f[len('nn.Module: '):] for f in s.frames if f.startswith('nn.Module: ')]
        return modules[0] if modules else ''
    return ''


class Row:
    def __init__(self, s, group):
        self.name, self.group = row_name(s), group
        self.is_device, self.is_annotation = s.is_device, s.is_annotation
        self.calls = self.self_cpu = self.cpu_total = self.self_device = self.device_total = 0
        self.cpu_mem = self.self_cpu_mem = self.device_mem = self.self_device_mem = self.flops = 0

    def add(self, s):
        self.calls += 1
        if s.is_device:
            self.self_device += s.dur
            self.device_total += s.dur
            return
        self.cpu_total += s.dur
        self.self_cpu += s.dur - sum(c.dur for c in s.children)
        self.self_device += sum(s.kernels)
        self.device_total += s.device_total()
        self.cpu_mem += s.cpu_bytes
        self.self_cpu_mem += s.cpu_bytes - sum(c.cpu_bytes for c in s.children)
        self.device_mem += s.device_bytes
        self.self_device_mem += s.device_bytes - sum(c.device_bytes for c in s.children)
        self.flops += flops(s)


class Table:
    """Rows in order of first appearance, and the two footers."""

    def __init__(self, rows):
        self.rows = rows
        self.self_cpu = sum(r.self_cpu for r in rows)
        self.self_device = sum(r.self_device for r in rows if r.is_device and not r.is_annotation)


def table(events, by='name', depth=5, python=False, credit_overhead=False):
    spans, memory = read_spans(events, by in ('stack', 'module') or python or credit_overhead)
    narrow_annotations(spans)
    link(spans)
    find_frames(spans)
    if credit_overhead:
        credit(spans)
    if not python:
        spans = [s for s in spans if not s.is_frame]
    count_memory(spans, memory)
    spans.sort(key=lambda s: (s.start, -s.end))
    nest(spans)
    rows = {}
    for s in merge_same_name(spans):
        group = group_text(s, by, depth)
        key = (row_name(s), s.is_device, s.is_annotation, group)
        if key not in rows:
            rows[key] = Row(s, group)
        rows[key].add(s)
    return Table(list(rows.values()))


def credit(spans):
    """Gives each overhead record the kernels of whatever it nests in, as torch does: linked runtime
    calls are not in the way; Python frames and other calls are, and have no kernels."""
    main = main_thread(spans)
    ops = {s.external_id for s in spans if s.is_op}
    row = [s for s in spans if s.thread == main and not s.is_device
           and not (s.is_call and s.external_id in ops)]
    stack = []
    for s in sorted(row, key=lambda s: s.start):
        while stack and stack[-1].end < s.start:
            stack.pop()
        if s.cat == 'overhead' and stack:
            s.kernels = list(stack[-1].kernels)
        stack.append(s)
