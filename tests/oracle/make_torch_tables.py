"""Records small traces with the installed torch and writes torch's own table beside each.

    python3 tests/oracle/make_torch_tables.py tests/data/torch [CASE...]

Without cases: all of the CPU, and those of the GPU (gpu_*) where there is one.

For each case: CASE.json.gz (the trace) and CASE.expected.json.gz (every attribute of every row of
key_averages(), plain, grouped by input shape, and grouped by stack where stacks were recorded).
Spans that end on another thread or not at all are named: torch knows more of them than it writes.
"""
import gzip
import json
import os
import re
import sys
import tempfile
import threading

import torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None
from torch.profiler import ProfilerActivity, profile, record_function, schedule

ATTRIBUTES = (
    'count', 'self_cpu_time_total', 'cpu_time_total', 'self_device_time_total', 'device_time_total',
    'cpu_memory_usage', 'self_cpu_memory_usage', 'device_memory_usage', 'self_device_memory_usage',
)
GRAIN = 3  # decimals kept of a microsecond
kept = []


def small_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))


def ops(step):
    x = torch.randn(8, 8)
    y = torch.mm(x, x) + x
    torch.cat([y, x]).sum().item()
    torch.stack([x, y, x])
    x.to(torch.float64)
    torch.nn.functional.softmax(y, dim=-1)


def annotations(step):
    with record_function('outer'):
        with record_function('outer'):
            torch.ones(4)
        with record_function('inner'):
            with record_function('inner'):
                with record_function('inner'):
                    torch.zeros(4) + 1
    with record_function('aten::add'):
        torch.ones(3).add(1)


def backward(step):
    model = small_model()
    best = torch.optim.AdamW(model.parameters())
    loss = model(torch.randn(5, 16)).pow(2).mean()
    loss.backward()
    best.step()
    best.zero_grad()


def memory(step):
    kept = []
    for n in (10, 1000, 100000):
        kept.append(torch.empty(n))
        kept.append(torch.ones(n).mul(2))
    del kept


def flops(step):
    x = torch.randn(2, 3, 16, 16)
    torch.nn.functional.conv2d(x, torch.randn(6, 3, 3, 3), stride=2, padding=1)
    torch.nn.functional.conv2d(x, torch.randn(6, 1, 3, 3), groups=3, dilation=2)
    torch.nn.functional.conv2d(x, torch.randn(6, 3, 3, 3), padding='same')
    torch.mm(torch.randn(4, 5), torch.randn(5, 6))
    torch.addmm(torch.randn(6), torch.randn(4, 5), torch.randn(5, 6))
    torch.bmm(torch.randn(3, 4, 5), torch.randn(3, 5, 6))
    torch.baddbmm(torch.randn(3, 4, 6), torch.randn(3, 4, 5), torch.randn(3, 5, 6))
    torch.randn(7, 1) * torch.randn(1, 9)
    torch.randn(7, 9) + 1
    torch.add(torch.randn(2, 2), torch.randn(2, 2), alpha=3)
    torch.nn.functional.linear(torch.randn(2, 3, 4), torch.randn(5, 4), torch.randn(5))


def threads(step):
    def work():
        with record_function('worker'):
            for _ in range(3):
                torch.randn(16, 16).matmul(torch.randn(16, 16))

    many = [threading.Thread(target=work) for _ in range(3)]
    for t in many:
        t.start()
    torch.ones(64).cumsum(0)
    for t in many:
        t.join()


@torch.jit.script
def forked(x: torch.Tensor):
    task = torch.jit.fork(torch.neg, x)
    y = torch.relu(x)
    return torch.jit.wait(task) + y


def asynchronous(step):
    forked(torch.randn(32))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = small_model()

    def forward(self, x):
        return self.head(self.body(x))

    def head(self, x):
        return x.softmax(-1) @ x.mT


def modules(step):
    net = Net()
    net(torch.randn(5, 16))
    net.head(torch.randn(5, 4))


def unfinished(step):
    kept.append(record_function('still open'))
    kept[-1].__enter__()
    torch.ones(4).add(1)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.up, self.down = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def gpu_training(step):
    """The backward pass launches from a thread of its own."""
    model = torch.nn.Sequential(Block(), Block()).cuda()
    best = torch.optim.AdamW(model.parameters(), foreach=True)
    for _ in range(2):
        with record_function('forward'):
            loss = model(torch.randn(8, 64, device='cuda')).pow(2).mean()
        with record_function('backward'):
            loss.backward()
        with record_function('update'):
            best.step()
            best.zero_grad()
        loss.item()


def gpu_streams(step):
    x = torch.randn(256, 256, device='cuda')
    host = torch.empty(256, 256, pin_memory=True)
    side = torch.cuda.Stream()
    for _ in range(3):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side), record_function('side'):
            y = x @ x
            host.copy_(y, non_blocking=True)
        with record_function('front'):
            x = x * 0.5 + 1
        torch.cuda.current_stream().wait_stream(side)
    side.synchronize()
    torch.cuda.synchronize()


def gpu_threads(step):
    def work():
        with torch.cuda.stream(torch.cuda.Stream()), record_function('worker'):
            for _ in range(3):
                x = torch.randn(64, 64, device='cuda')
                (x @ x).sum().item()
            torch.cuda.current_stream().synchronize()

    many = [threading.Thread(target=work) for _ in range(2)]
    for t in many:
        t.start()
    torch.ones(1 << 16, device='cuda').cumsum(0).cpu()
    for t in many:
        t.join()


def captured():
    x = torch.randn(64, 64, device='cuda')
    graph = torch.cuda.CUDAGraph()
    for _ in range(3):
        (x @ x).relu()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(5):
            x = (x @ x).relu()
    return graph


def gpu_graph(step):
    """Replays are launched outside any operator, or inside an annotation."""
    if not kept or not isinstance(kept[-1], torch.cuda.CUDAGraph):
        kept.append(captured())
    for _ in range(3):
        kept[-1].replay()
    with record_function('replay'):
        kept[-1].replay()
    torch.cuda.synchronize()


def gpu_deep_queue(step):
    """More launches than the driver queues: overhead records appear under the launching calls."""
    x = torch.randn(2048, 2048, device='cuda')
    with record_function('queue'):
        for _ in range(1500):
            x = x.mul(0.999)
    x.sum().item()


if triton:
    @triton.jit
    def double(x, n, SIZE: tl.constexpr):
        i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
        tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def gpu_triton(step):
    """Kernels launched outside any operator, from the main thread and from another."""
    x = torch.ones(1024, device='cuda')

    def launch():
        for _ in range(3):
            double[(4,)](x, 1024, SIZE=256)

    with record_function('by hand'):
        launch()
    t = threading.Thread(target=launch)
    t.start()
    with record_function('meanwhile'):
        x.add(1).mul(2)
        t.join()
    torch.cuda.synchronize()


def config(**wishes):
    try:
        return torch._C._profiler._ExperimentalConfig(**wishes)
    except TypeError:  # an older torch
        return torch._C._profiler._ExperimentalConfig()


VERBOSE, ALL_THREADS = config(verbose=True), config(profile_all_threads=True)
SYNCS = config(enable_cuda_sync_events=True)
STEPS = schedule(wait=1, warmup=1, active=3)

CASES = {
    'ops': (ops, dict(record_shapes=True)),
    'plain': (ops, {}),
    'annotations': (annotations, {}),
    'backward': (backward, dict(record_shapes=True, profile_memory=True)),
    'memory': (memory, dict(profile_memory=True)),
    'flops': (flops, dict(record_shapes=True, with_flops=True)),
    'threads': (threads, dict(profile_memory=True, experimental_config=ALL_THREADS)),
    'async': (asynchronous, {}),
    'modules': (modules, dict(with_stack=True, record_shapes=True, experimental_config=VERBOSE)),
    'steps': (backward, dict(schedule=STEPS, profile_memory=True)),
    'unfinished': (unfinished, {}),
    'gpu_training': (gpu_training, dict(record_shapes=True, profile_memory=True, with_flops=True)),
    'gpu_steps': (gpu_training, dict(schedule=STEPS)),
    'gpu_stack': (gpu_training, dict(with_stack=True, experimental_config=VERBOSE)),
    'gpu_streams': (gpu_streams, dict(profile_memory=True, experimental_config=SYNCS)),
    'gpu_threads': (gpu_threads, dict(profile_memory=True, experimental_config=ALL_THREADS)),
    'gpu_graph': (gpu_graph, {}),
    'gpu_triton': (gpu_triton, dict(profile_memory=True)),
    'gpu_deep_queue': (gpu_deep_queue, dict(record_shapes=True)),
}


def attribute(r, name):
    return getattr(r, name if hasattr(r, name) else name.replace('device', 'cuda'))


def row(r):
    out = {'name': r.key, 'device': str(r.device_type).split('.')[-1].lower(),
           'is_annotation': bool(getattr(r, 'is_user_annotation', False)), 'flops': r.flops or 0}
    out.update({a: round(attribute(r, a), GRAIN) for a in ATTRIBUTES})
    return out


def tables(prof, options):
    out = {'plain': [row(r) for r in prof.key_averages()]}
    if options.get('record_shapes'):
        out['shape'] = [dict(row(r), shapes=r.input_shapes)
                        for r in prof.key_averages(group_by_input_shape=True)]
    if options.get('with_stack'):
        out['stack'] = [dict(row(r), stack=r.stack) for r in prof.key_averages(group_by_stack_n=2)]
    return out


def write(path, data):
    with gzip.GzipFile(path, 'wb', mtime=0) as f:
        f.write(data)


def record(name, folder):
    work, options = CASES[name]
    activities = [ProfilerActivity.CPU]
    if name.startswith('gpu_'):
        activities.append(ProfilerActivity.CUDA)
        work(0)
        torch.cuda.synchronize()
    with profile(activities=activities, **options) as prof:
        for step in range(5 if 'schedule' in options else 1):
            work(step)
            prof.step() if 'schedule' in options else None
    base = os.path.join(folder, name)
    with tempfile.NamedTemporaryFile(suffix='.json') as plain:
        prof.export_chrome_trace(plain.name)
        with open(plain.name, 'rb') as src:
            trace = re.sub(rb'("host_name": |"traceName": )"[^"]*"', rb'\1"%s"' % name.encode(), src.read())
    write(base + '.json.gz', trace)
    result = {
        'torch': torch.__version__,
        'python_rows': any(getattr(e, 'is_python_function', False) for e in prof.events()),
        'end_not_recorded': [e['name'] for e in json.loads(trace)['traceEvents']
                             if e['ph'] == 'X' and e.get('args', {}).get('finished') is False]
        + [e.name for e in prof.events() if e.is_async],
        'tables': tables(prof, options),
    }
    write(base + '.expected.json.gz', json.dumps(result, separators=(',', ':')).encode())


if __name__ == '__main__':
    os.makedirs(sys.argv[1], exist_ok=True)
    cases = [c for c in CASES if torch.cuda.is_available() or not c.startswith('gpu_')]
    for case in sys.argv[2:] or cases:
        record(case, sys.argv[1])
