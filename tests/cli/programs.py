#!/usr/bin/env python3
"""programs.py: writes traces of programs that nobody wrote, for figures.t: those of
tests/growth/shapes.py, and some that do a little of everything, chosen by a seed."""
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "growth"))
from shapes import CPU_TID, SHAPES, Trace

SIZE = 30
SEEDS = 16
KERNELS = ("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn", "triton_poi_fused_add_mul_0",
           "void at::native::vectorized_elementwise_kernel<4, float>(int)", "flash_fwd_kernel",
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "void at::native::reduce_kernel<512, 1>(float)")
OPS = ("aten::mm", "aten::add", "aten::copy_", "aten::item", "aten::cat", "aten::_to_copy", "aten::sum")


class Program:
    """A thread that launches, waits, copies and computes; the device runs behind it."""

    def __init__(self, seed):
        self.dice, self.trace = random.Random(seed), Trace()
        self.now, self.free, self.allocated = 10.0, 0.0, 1 << 20
        self.layers = self.dice.randint(2, 6)
        self.plan = [self.dice.choice((self.launch, self.launch, self.launch, self.read_back, self.upload,
                                       self.think, self.allocate, self.graph)) for _ in range(self.layers)]

    def launch(self, layer):
        dur = self.dice.choice((4, 20, 90)) * (1 + layer / 8)
        begin = max(self.now + 9, self.free)
        self.trace.op(OPS[layer % 2], self.now, 14, **{"Input Dims": [[64, 32 + layer], [32 + layer, 8]],
                                                      "Input type": ["float", "float"]})
        self.trace.kernel(self.now + 3, name=KERNELS[layer % len(KERNELS)], dur=dur,
                          after=begin - self.now - 3)
        self.free = begin + dur
        self.now += 16 + self.dice.random()

    def read_back(self, layer):
        self.launch(layer)
        done = self.free + 3
        self.trace.op("aten::item", self.now, done - self.now + 12)
        self.trace.copy(self.now + 2, "DtoH", 2, 4, self.dice.choice(("Pinned", "Pageable")))
        self.trace.call("cudaStreamSynchronize", self.now + 8, done - self.now)
        self.now = done + 14
        self.free = self.now

    def upload(self, layer):
        size = 4 << self.dice.randrange(22)
        self.trace.op("aten::to", self.now, 30)
        host = self.dice.choice(("Pinned", "Pageable"))
        self.trace.copy(self.now + 2, "HtoD", 2 + size / 20000, size, host)
        self.now += 34
        self.free = max(self.free, self.now + size / 20000)

    def think(self, layer):
        self.trace.python(f"train.py({10 + layer}): helper{layer}", self.now, 60 + 9 * layer)
        self.now += 70 + 9 * layer

    def allocate(self, layer):
        self.allocated += 1 << 12
        self.trace.memory(self.now, 1 << 12, self.allocated, addr=self.allocated)
        self.trace.call("cudaMalloc", self.now + 1, 80)
        self.now += 90

    def graph(self, layer):
        corr = self.trace.call("cudaGraphLaunch", self.now, 9)
        for node in range(3):
            begin = max(self.now + 12, self.free)
            self.trace.span("kernel", KERNELS[node], begin, 7, pid=0, tid=7, correlation=corr, device=0,
                            stream=7, grid=[10, 1, 1], block=[128, 1, 1], **{"graph node id": node})
            self.free = begin + 8
        self.now += 14

    def step(self, number, labels):
        begin = self.now
        for layer, part in enumerate(self.plan):
            at = self.now
            part(layer)
            if labels & 1:
                self.trace.label(f"layer{layer}", at - 0.5, self.now - at)
        if labels & 2:
            self.trace.label("step", begin - 1, self.now - begin + 1)
        if labels & 4:
            self.trace.python("train.py(7): step", begin - 1, self.now - begin + 1)
        if number % 5 == 4:
            self.trace.kernel(self.now, name="other", dur=40, stream=13, tid=CPU_TID + 1, after=15)
        self.now += self.dice.choice((2, 2, 2, 150))

    def run(self):
        labels = self.dice.randrange(8)
        for number in range(8):
            self.step(number, labels)
        return self.trace


def main():
    for name, fill in SHAPES.items():
        trace = Trace()
        fill(trace, SIZE)
        trace.write(f"{name}.json")
    for seed in range(SEEDS):
        Program(seed).run().write(f"program{seed}.json")


if __name__ == "__main__":
    main()
