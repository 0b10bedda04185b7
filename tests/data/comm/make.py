#!/usr/bin/env python3
"""Writes the traces in this folder: four ranks of a training loop on two hosts.

    make.py FOLDER [--fault kind:rank] [--ranks N] [--steps N] [--offset-us U] [--drift-ppm P]

Each step computes 8 kernels of 100 us, all-reduces one half of the gradients beside the second half
of the backward pass and the other half after it, and ends with an optimizer kernel. A collective ends
on all ranks when the last one has come and the bytes are through. The clock of each host has its own
offset and drift. `slow` makes the kernels of a rank's backward pass take half as long again.
"""
import argparse
import json
from pathlib import Path

BYTES = (16 << 20, 4 << 20)
TRANSFER_US = (120.0, 60.0)
KERNEL_US = 100.0
AHEAD_US = 30.0  # from a launch to its kernel, at least


class Rank:
    def __init__(self, rank, options):
        host = rank // 2
        self.rank, self.events, self.correlation = rank, [], 0
        self.offset = options.offset_us * host
        self.drift = 1 + options.drift_ppm * 1e-6 * host
        fault = (options.fault or ':').split(':')
        self.backward_us = KERNEL_US * (1.5 if fault == ['slow', str(rank)] else 1)
        self.free = [0.0, 0.0]  # compute and communication stream

    def clock(self, us):
        return round(1_000_000 + self.offset + us * self.drift, 3)

    def add(self, cat, name, at, dur, pid, tid, args):
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid,
                            'ts': self.clock(at), 'dur': round(dur * self.drift, 3), 'args': args})

    def launch(self, at, name, start, dur, stream, **args):
        self.correlation += 1
        self.add('cuda_runtime', 'cudaLaunchKernel', at, 4, 100 + self.rank, 1,
                 {'correlation': self.correlation})
        self.add('kernel', name, start, dur, 0, stream,
                 {'device': 0, 'stream': stream, 'correlation': self.correlation,
                  'grid': [108, 1, 1], 'block': [256, 1, 1], **args})

    def kernel(self, cpu, name, dur, after=0.0):
        start = max(cpu + AHEAD_US, self.free[0] + 1, after)
        self.launch(cpu, name, start, dur, 7)
        self.free[0] = start + dur

    def ready(self, cpu, after):
        return max(cpu + AHEAD_US, after + 2, self.free[1] + 1)


def all_reduce(ranks, cpu, after, which, seq):
    begins = [r.ready(cpu, at) for r, at in zip(ranks, after)]
    end = max(begins) + TRANSFER_US[which]
    for r, begin in zip(ranks, begins):
        r.launch(cpu, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
                 begin, end - begin, 20, **{
                     'Collective name': 'allreduce', 'In msg nelems': BYTES[which] // 4,
                     'Out msg nelems': BYTES[which] // 4, 'Group size': len(ranks),
                     'dtype': 'Float', 'Process Group Name': '0', 'Seq': seq,
                     'Process Group Description': 'default_pg'})
        r.free[1] = end
    return end


def train(ranks, steps):
    for step in range(steps):
        cpu = step * 120.0
        for r in ranks:
            r.add('user_annotation', f'ProfilerStep#{step}', cpu, 118, 100 + r.rank, 1, {})
        for i in range(4):
            for r in ranks:
                r.kernel(cpu + 2 + i * 6, 'gemm_forward', KERNEL_US)
        halves = []
        for half in range(2):
            for i in range(2):
                for r in ranks:
                    r.kernel(cpu + 30 + half * 20 + i * 6, 'gemm_backward', r.backward_us)
            halves.append([r.free[0] for r in ranks])
        all_reduce(ranks, cpu + 72, halves[0], 0, 2 * step + 1)
        end = all_reduce(ranks, cpu + 80, halves[1], 1, 2 * step + 2)
        for r in ranks:
            r.kernel(cpu + 90, 'adam_kernel', 50, after=end + 2)
    for r in ranks:
        last = max(r.free)
        r.add('cuda_runtime', 'cudaDeviceSynchronize', steps * 120.0 + 2,
              last - steps * 120.0, 100 + r.rank, 1, {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', type=Path)
    parser.add_argument('--fault')
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--steps', type=int, default=5)
    parser.add_argument('--offset-us', type=float, default=700)
    parser.add_argument('--drift-ppm', type=float, default=20)
    options = parser.parse_args()
    ranks = [Rank(i, options) for i in range(options.ranks)]
    train(ranks, options.steps)
    options.folder.mkdir(parents=True, exist_ok=True)
    for r in ranks:
        head = json.dumps({'backend': 'nccl', 'rank': r.rank, 'world_size': len(ranks),
                           'pg_count': 1})
        lines = ',\n'.join(json.dumps(e) for e in r.events)
        (options.folder / f'rank{r.rank}.json').write_text(
            f'{{"schemaVersion": 1, "distributedInfo": {head},\n"traceEvents": [\n{lines}\n]}}\n')


if __name__ == '__main__':
    main()
