#!/usr/bin/env python3
"""Makes sets of ranks whose waiting comes from how work is divided, and healthy ones beside them.

    schedule.py FOLDER pipeline|experts [--ranks N] [--micro N] [--uneven X] [--seed N] [--steps N]

pipeline   one forward, one backward: a stage receives from its neighbour, computes and sends on. Bubbles are
           what the schedule leaves: (stages - 1) / (microbatches + stages - 1) where stages are even.
           --uneven makes one stage compute X times as long as the others.
experts    every layer: attention, an all-to-all that hands out tokens, a grouped GEMM, an all-to-all that
           collects them. --uneven is how many times the mean the busiest rank gets; which one it is changes
           from layer to layer.

Both end each step with an all-reduce and an optimizer. Hosts of four ranks have clocks of their own.
"""
import argparse
import json
import random
from pathlib import Path

NCCL = 'ncclDevKernel_%s(ncclDevKernelArgsStorage<4096ul>)'
ROUTE_US = 25.0
FORWARD_US = 400.0


class Rank:
    def __init__(self, rank, options):
        clock = random.Random(options.seed * 100 + rank // 4)
        self.rank, self.n, self.events, self.key = rank, options.ranks, [], 0
        self.offset, self.drift = clock.uniform(-5e3, 5e3), 1 + clock.uniform(-3e-5, 3e-5)
        self.noise = random.Random(options.seed * 1000 + rank)
        self.free = 0.0  # when the device has computed what it has
        self.cpu = 0.0

    def add(self, cat, name, at, dur, tid, args):
        pid = 0 if cat == 'kernel' else 100 + self.rank
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'args': args,
                            'ts': round(1e9 + self.offset + at * self.drift, 3),
                            'dur': round(dur * self.drift, 3)})

    def kernel(self, name, at, end, stream, **args):
        """With its launch, which the CPU has done in time."""
        self.key += 1
        launch = max(self.cpu, 0.0)
        self.add('cuda_runtime', 'cudaLaunchKernel', launch, 2.0, 1, {'correlation': self.key})
        self.cpu = launch + 2.5
        self.add('kernel', name, at, end - at, stream, {
            'device': 0, 'stream': stream, 'correlation': self.key, 'grid': [132, 1, 1],
            'block': [256, 1, 1], **args})

    def compute(self, name, us, parts=4):
        us *= 1 + self.noise.uniform(0, 0.01)
        for _ in range(parts):
            self.kernel(name, self.free, self.free + us / parts - 0.5, 7)
            self.free += us / parts


def carry(ranks, name, kernel, members, begins, us, sizes=None, extra=None, stream=20):
    """A collective of these ranks; it ends everywhere when the last has come and the bytes are through."""
    end = max(begins) + us
    for i, r in enumerate(members):
        args = {'Collective name': name, 'Process Group Name': '0', 'Group size': len(members),
                'Process Group Description': 'default_pg', 'dtype': 'BFloat16', **(extra(i) if extra else {})}
        if sizes:
            args.update({'In msg nelems': int(sizes[i]), 'Out msg nelems': int(sizes[i])})
        ranks[r].kernel(NCCL % kernel, begins[i], end, stream, **args)
    return end


def finish(ranks, begin):
    """The all-reduce and the optimizer of a step; the CPU waits for them."""
    n = len(ranks)
    end = carry(ranks, 'allreduce', 'AllReduce_Sum_f32_RING_LL', range(n), [r.free for r in ranks], 60.0,
                [1 << 20] * n)
    for r in ranks:
        r.free = end
        r.compute('adam_kernel', 50.0, 1)
        r.add('cuda_runtime', 'cudaStreamSynchronize', r.cpu, r.free - r.cpu, 1, {})
        r.add('user_annotation', f'ProfilerStep#{r.step}', begin[r.rank], r.free + 4 - begin[r.rank], 1, {})
        r.cpu = r.free = r.free + 5


def order_of(stage, stages, micro):
    """Forwards and backwards of a stage: some ahead, then alternately, then the rest."""
    ahead = min(stages - stage - 1, micro)
    out = [('F', i) for i in range(ahead)]
    for i in range(micro - ahead):
        out += [('F', ahead + i), ('B', i)]
    return out + [('B', i) for i in range(micro - ahead, micro)]


def pipeline(ranks, options):
    stages, micro = options.ranks, options.micro
    slow = random.Random(options.seed).randrange(stages)
    cost = [FORWARD_US * (options.uneven if p == slow else 1) for p in range(stages)]
    done, waiting = {}, {p: order_of(p, stages, micro) for p in range(stages)}
    ready = {p: ranks[p].free for p in range(stages)}
    while any(waiting.values()):
        for p in range(stages):
            if not waiting[p]:
                continue
            what, i = waiting[p][0]
            source = p - 1 if what == 'F' else p + 1
            if 0 <= source < stages:
                if (what, i, source) not in done:
                    continue
                sent = done[what, i, source]
                pair = [source, p]
                end = carry(ranks, 'send', 'SendRecv', pair, [sent, max(ready[p], ranks[p].free)], ROUTE_US,
                            [1 << 22] * 2, lambda k, pair=pair: {
                                'Src Rank' if k else 'Dst Rank': pair[1 - k],
                                'Collective name': 'recv' if k else 'send'}, 20 if what == 'F' else 21)
                ranks[p].free = max(ranks[p].free, end)
            waiting[p].pop(0)
            ranks[p].compute('gemm_forward' if what == 'F' else 'gemm_backward',
                             cost[p] * (1 if what == 'F' else 2))
            done[what, i, p] = ready[p] = ranks[p].free
    return slow


def tokens(dice, n, uneven):
    """Shares of the tokens, with a mean of 1; the largest is `uneven`."""
    most = dice.randrange(n)
    rest = (n - uneven) / (n - 1)
    return [uneven if r == most else rest for r in range(n)]


def experts(ranks, options, dice):
    n = len(ranks)
    for way in ('forward', 'backward'):
        for _ in range(4):
            share = tokens(dice, n, options.uneven)
            for r in ranks:
                r.compute(f'flash_{way}', 200.0)
            for k in range(2):
                end = carry(ranks, 'all_to_allv', 'SendRecv', range(n), [r.free for r in ranks], ROUTE_US,
                            [(1 << 20) * s for s in share] if options.sizes else None)
                for r in ranks:
                    r.free = end
                    if k == 0:
                        r.compute(options.gemm + way, 300.0 * share[r.rank])


def make(args):
    options = parse(args)
    dice = random.Random(options.seed)
    ranks = [Rank(r, options) for r in range(options.ranks)]
    slow = None
    for step in range(options.steps):
        begin = [r.cpu for r in ranks]
        for r in ranks:
            r.step = step
        if options.kind == 'pipeline':
            slow = pipeline(ranks, options)
        else:
            experts(ranks, options, dice)
        finish(ranks, begin)
    options.folder.mkdir(parents=True, exist_ok=True)
    for r in ranks:
        head = {'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': r.rank, 'world_size': r.n}}
        (options.folder / f'rank{r.rank}.json').write_text(json.dumps({**head, 'traceEvents': r.events}))
    return slow


def parse(args=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('folder', type=Path)
    parser.add_argument('kind', choices=('pipeline', 'experts'))
    parser.add_argument('--ranks', type=int, default=4)
    parser.add_argument('--micro', type=int, default=8)
    parser.add_argument('--uneven', type=float, default=1.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--steps', type=int, default=4)
    parser.add_argument('--sizes', type=int, default=1, help='0: message sizes are not recorded')
    parser.add_argument('--gemm', default='grouped_gemm_')
    return parser.parse_args([str(a) for a in args] if args is not None else None)


if __name__ == '__main__':
    make(None)
