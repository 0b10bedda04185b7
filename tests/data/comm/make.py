#!/usr/bin/env python3
"""Writes the traces in this folder: ranks of a training loop, one of them with a fault.

    make.py FOLDER [--fault kind:rank] [--ranks N] [--steps N] [--offset-us U] [--drift-ppm P] [--seed N]

Each step loads a batch, launches eight kernels forward and backward, all-reduces one half of the
gradients beside the second half of the backward pass and the other half after it, ends with an
optimizer kernel and waits for it. A collective ends on all ranks when the last one has come and the
bytes are through. Each host, of two ranks, has a clock with its own offset and drift. Faults:

    slow       the kernels of the backward pass take half as long again
    clock      all kernels take 20 % longer
    more       the kernels of the forward pass have 40 % more blocks and take 40 % longer
    sync       the CPU waits for the GPU after every kernel of the forward pass
    gc         Python collects garbage for 400 us in every step
    loader     the batch takes 400 us more
    host       a function of the user takes 400 us between forward and backward
"""
import argparse
import json
import random
from pathlib import Path

NCCL = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
BYTES = (16 << 20, 4 << 20)
TRANSFER_US = (120.0, 60.0)
KERNEL_US = 100.0
LATENCY_US = 8.0
DELAY_US = 400.0


class Rank:
    def __init__(self, rank, options):
        host = rank // 2
        clock = random.Random(options.seed * 1000 + host)
        self.noise = random.Random(options.seed * 1000 + 500 + rank)
        self.rank, self.events, self.correlation = rank, [], 0
        self.offset = options.offset_us * (host and clock.uniform(-1, 1) if options.seed else host)
        self.drift = 1 + options.drift_ppm * 1e-6 * (host and clock.uniform(-1, 1)
                                                     if options.seed else host)
        kind, _, who = (options.fault or ':').partition(':')
        self.fault = kind if who == str(rank) else None
        self.jitter = 0.01 if options.seed else 0
        self.cpu = 0.0
        self.free = [0.0, 0.0]  # streams of compute and communication

    def add(self, cat, name, at, dur, pid, tid, args):
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid,
                            'ts': round(1_000_000 + self.offset + at * self.drift, 3),
                            'dur': round(dur * self.drift, 3), 'args': args})

    def host(self, cat, name, dur):
        self.add(cat, name, self.cpu, dur, 100 + self.rank, 1, {})
        self.cpu += dur

    def call(self, name, dur):
        self.correlation += 1
        self.add('cuda_runtime', name, self.cpu, dur, 100 + self.rank, 1,
                 {'correlation': self.correlation})
        self.cpu += dur

    def work(self, name, start, dur, stream, blocks, **args):
        self.add('kernel', name, start, dur, 0, stream,
                 {'device': 0, 'stream': stream, 'correlation': self.correlation,
                  'grid': [blocks, 1, 1], 'block': [256, 1, 1], **args})

    def wait(self, name='cudaStreamSynchronize'):
        self.call(name, max(max(self.free) + 3 - self.cpu, 2))

    def kernel(self, name, dur, after=0.0, blocks=100):
        dur *= (1.2 if self.fault == 'clock' else 1) * (1 + self.noise.uniform(0, self.jitter))
        self.call('cudaLaunchKernel', 4)
        start = max(self.cpu + LATENCY_US, self.free[0] + 1, after)
        self.work(name, start, dur, 7, blocks)
        self.free[0] = start + dur
        self.cpu += 2

    def forward(self):
        more = self.fault == 'more'
        for _ in range(4):
            self.kernel('gemm_forward', KERNEL_US * (1.4 if more else 1), blocks=140 if more else 100)
            if self.fault == 'sync':
                begin = self.cpu
                self.cpu += 1
                self.wait()
                self.add('cpu_op', 'aten::item', begin, self.cpu - begin + 25, 100 + self.rank, 1, {})
                self.cpu += 27

    def backward(self):
        for _ in range(2):
            self.kernel('gemm_backward', KERNEL_US * (1.5 if self.fault == 'slow' else 1))
        return self.free[0]

    def begin_step(self):
        self.begin = self.cpu
        self.host('user_annotation', 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__',
                  10 + (DELAY_US if self.fault == 'loader' else 0))
        self.forward()
        if self.fault == 'gc':
            self.wait()
            self.host('user_annotation', 'Python GC', DELAY_US)
        if self.fault == 'host':
            self.wait()
            self.host('python_function', 'train.py(12): log_metrics', DELAY_US)

    def end_step(self, step, after):
        self.kernel('adam_kernel', 50, after=after)
        self.kernel('clip_kernel', 20)
        self.wait()
        self.add('user_annotation', f'ProfilerStep#{step}', self.begin, self.cpu - self.begin,
                 100 + self.rank, 1, {})
        self.cpu += 1


def all_reduce(ranks, ready, which, seq):
    """Launched by every rank behind its backward pass; all end together."""
    begins = []
    for r, at in zip(ranks, ready):
        r.call('cudaLaunchKernel', 4)
        begins.append(max(r.cpu + LATENCY_US, at + 2, r.free[1] + 1))
    end = max(begins) + TRANSFER_US[which]
    for r, begin in zip(ranks, begins):
        r.work(NCCL, begin, end - begin, 20, 16, **{
            'Collective name': 'allreduce', 'In msg nelems': BYTES[which] // 4,
            'Out msg nelems': BYTES[which] // 4, 'Group size': len(ranks), 'dtype': 'Float',
            'Process Group Name': '0', 'Process Group Description': 'default_pg', 'Seq': seq})
        r.free[1] = end
        r.cpu += 2
    return end


def train(ranks, steps):
    for step in range(steps):
        for r in ranks:
            r.begin_step()
        all_reduce(ranks, [r.backward() for r in ranks], 0, 2 * step + 1)
        end = all_reduce(ranks, [r.backward() for r in ranks], 1, 2 * step + 2)
        for r in ranks:
            r.end_step(step, end + 2)


def write(folder, ranks):
    folder.mkdir(parents=True, exist_ok=True)
    for r in ranks:
        head = json.dumps({'backend': 'nccl', 'rank': r.rank, 'world_size': len(ranks),
                           'pg_count': 1})
        lines = ',\n'.join(json.dumps(e) for e in r.events)
        (folder / f'rank{r.rank}.json').write_text(
            f'{{"schemaVersion": 1, "distributedInfo": {head},\n"traceEvents": [\n{lines}\n]}}\n')


def parse(args=None):
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', type=Path)
    parser.add_argument('--fault')
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--steps', type=int, default=5)
    parser.add_argument('--offset-us', type=float, default=700)
    parser.add_argument('--drift-ppm', type=float, default=20)
    parser.add_argument('--seed', type=int, default=0)
    return parser.parse_args(args)


def make(args=None):
    options = parse(args)
    ranks = [Rank(i, options) for i in range(options.ranks)]
    train(ranks, options.steps)
    write(options.folder, ranks)
    return max(max(r.free) for r in ranks) / options.steps


if __name__ == '__main__':
    make()
