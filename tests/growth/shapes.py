"""Traces that are large in one way each: deep, wide, many names, many devices, ...

SHAPES maps a name to a function that fills a Trace with about `n` of what it is about. What is not
the subject stays small, so that a count that grows faster than `n` shows."""
import json
import random

CPU_PID, CPU_TID = 100, 100
DEEP = 3  # as many times n where spans nest: past the ceiling of depth (TRACE_DEEPEST) at once


class Trace:
    """Kineto events; times in microseconds."""

    def __init__(self):
        self.events, self.ids = [], 0

    def span(self, cat, name, ts, dur, tid=CPU_TID, pid=CPU_PID, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "ts": round(ts, 3),
                            "dur": round(dur, 3), "pid": pid, "tid": tid, "args": args})

    def label(self, name, ts, dur, **where):
        self.span("user_annotation", name, ts, dur, **where)

    def op(self, name, ts, dur, tid=CPU_TID, **args):
        self.ids += 1
        self.span("cpu_op", name, ts, dur, tid=tid, **{"External id": self.ids, **args})

    def call(self, name, ts, dur, tid=CPU_TID):
        self.ids += 1
        self.span("cuda_runtime", name, ts, dur, tid=tid, correlation=self.ids)
        return self.ids

    def kernel(self, ts, name="k", dur=30.0, after=6.0, device=0, stream=7, tid=CPU_TID, **args):
        """A launch of 3 us and its kernel, `after` us later."""
        corr = self.call("cudaLaunchKernel", ts, 3, tid)
        self.span("kernel", name, ts + after, dur, pid=device, tid=stream, correlation=corr,
                  device=device, stream=stream, grid=[10, 1, 1], block=[128, 1, 1], **args)

    def copy(self, ts, kind="HtoD", dur=5.0, size=4096, host="Pageable"):
        corr = self.call("cudaMemcpyAsync", ts, 4)
        arrow = f"{host} -> Device" if kind == "HtoD" else f"Device -> {host}"
        self.span("gpu_memcpy", f"Memcpy {kind} ({arrow})", ts + 2, dur, pid=0, tid=7,
                  correlation=corr, device=0, stream=7, bytes=size)

    def memory(self, ts, size, total, device=0, kind=1, addr=4096):
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t",
                            "ts": round(ts, 3), "pid": CPU_PID, "tid": CPU_TID, "args": {
                                "Device Type": kind, "Device Id": device, "Addr": addr,
                                "Bytes": size, "Total Allocated": total,
                                "Total Reserved": total + (1 << 20)}})

    def python(self, name, ts, dur, tid=CPU_TID):
        self.ids += 1
        self.span("python_function", name, ts, dur, tid=tid, **{"Python id": self.ids})

    def flow(self, ident, cat, ts, end_ts, tid=CPU_TID, end_tid=CPU_TID, end_pid=CPU_PID):
        self.events.append({"ph": "s", "id": ident, "cat": cat, "name": cat, "ts": ts,
                            "pid": CPU_PID, "tid": tid})
        self.events.append({"ph": "f", "id": ident, "cat": cat, "name": cat, "ts": end_ts,
                            "pid": end_pid, "tid": end_tid, "bp": "e"})

    def write(self, path):
        props = [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150108504064, "computeMajor": 9,
                  "computeMinor": 0, "numSms": 132, "maxThreadsPerBlock": 1024,
                  "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32,
                  "sharedMemPerBlock": 49152, "regsPerMultiprocessor": 65536,
                  "sharedMemPerMultiprocessor": 233472}]
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"schemaVersion": 1, "deviceProperties": props,
                       "traceEvents": self.events}, f)


def steps(t, n, step_us=1000.0, body=None):
    """`n` steps that follow each other, each with one kernel and `body(t, i, ts)`."""
    for i in range(n):
        t.label(f"ProfilerStep#{i}", i * step_us, step_us - 1)
        t.kernel(i * step_us + 1)
        if body:
            body(t, i, i * step_us + 50)


def nested(t, n, add):
    """`n` spans, each inside the one before it, made by `add(name, ts, dur)`; a kernel in each."""
    n *= DEEP
    for i in range(n):
        add(f"level{i}", i * 10.0, (2 * n - 2 * i) * 10.0 + 5)
        t.kernel(i * 10.0 + 2, dur=4)


def nested_labels(t, n):
    nested(t, n, t.label)


def nested_ops(t, n):
    nested(t, n, lambda name, ts, dur: t.op("aten::" + name, ts, dur))


def nested_python(t, n):
    nested(t, n, lambda name, ts, dur: t.python(f"net.py({name[5:]}): forward", ts, dur))


def nested_same_name(t, n):
    nested(t, n, lambda name, ts, dur: t.label("forward", ts, dur))


def nested_modules(t, n):
    nested(t, n, lambda name, ts, dur: t.python(f"nn.Module: Block_{name[5:]}", ts, dur))


def labels_without_work(t, n):
    """Labels inside each other with nothing in them but one launch, after all have begun."""
    n *= DEEP
    for i in range(n):
        t.label(f"st{i}", i * 1.0, (4 * n - 2 * i) * 1.0)
    t.kernel(n + 10.0)


def nested_syncs(t, n):
    """A wait at every depth of a tree of labels that ends where it begins."""
    n *= DEEP
    for i in range(n):
        t.label(f"st{i}", i * 20.0, (2 * n - 2 * i) * 20.0 + 5)
        t.kernel(i * 20.0 + 1, dur=3, after=4)
        t.call("cudaStreamSynchronize", i * 20.0 + 6, 6)


def staircase_steps(t, n):
    """Labels of steps that overlap the next two."""
    for i in range(n):
        t.label(f"ProfilerStep#{i}", i * 10.0, 25)
        t.kernel(i * 10.0 + 1)


def overlapping_steps(t, n):
    """Every step overlaps all others, on two threads in turn."""
    n *= DEEP
    for i in range(n):
        t.label(f"ProfilerStep#{i}", i * 10.0, n * 10.0, tid=CPU_TID + i % 2)
        t.kernel(i * 10.0 + 1)


def plain_steps(t, n):
    steps(t, n)


def stage_loop(t, n):
    """Four stages inside each other, `n` times."""
    for i in range(n):
        ts = i * 100.0
        for d, name in enumerate(("request", "model", "block", "attention")):
            t.label(name, ts + d, 90 - 2 * d)
        t.kernel(ts + 10)


def stage_names(t, n):
    """`n` stages side by side, all of other names."""
    for i in range(n):
        t.label(f"stage {i}", i * 100.0, 90)
        t.kernel(i * 100.0 + 10)


def labels_over_calls(t, n):
    """Labels that a launch each lies in, beside one that holds all."""
    t.label("all", 0, n * 50.0 + 100)
    for i in range(n):
        t.label("one", i * 50.0 + 1, 40)
        t.op("aten::mm", i * 50.0 + 2, 30)
        t.kernel(i * 50.0 + 5)


def op_names(t, n):
    for i in range(n):
        t.op(f"aten::op_{i}", i * 50.0, 20, **{"Input Dims": [[i, 4], [4, i]],
                                              "Input type": ["float", "float"]})
        t.kernel(i * 50.0 + 5, name=f"void kernel_{i}<float, {i}>(float*, int)")


def shapes_of_one_op(t, n):
    for i in range(n):
        t.op("aten::mm", i * 50.0, 20, **{"Input Dims": [[i + 1, 64], [64, i + 1]],
                                         "Input type": ["c10::BFloat16", "c10::BFloat16"]})
        t.kernel(i * 50.0 + 5, name="sm90_xmma_gemm_bf16bf16")


def threads(t, n):
    for i in range(n):
        t.op("aten::mm", i * 5.0, 20, tid=1000 + i)
        t.kernel(i * 5.0 + 2, tid=1000 + i)


def labelled_threads(t, n):
    """Stages on threads of their own, all at the same time; allocations meanwhile."""
    for i in range(n):
        t.label(f"worker{i}", i * 1.0, n * 50.0, tid=1000 + i)
        t.kernel(i * 50.0 + 2, tid=1000 + i)
        t.call("cudaStreamSynchronize", i * 50.0 + 10, 30, tid=1000 + i)
        t.memory(i * 50.0 + 4, 4096, 4096 * (i + 1), addr=4096 * (i + 1))


def processes(t, n):
    """Work of many processes, each with its own thread."""
    for i in range(n):
        t.span("cpu_op", "aten::mm", i * 50.0, 20, pid=10000 + i, tid=10000 + i)
        t.ids += 1
        t.span("cuda_runtime", "cudaLaunchKernel", i * 50.0 + 2, 3, pid=10000 + i, tid=10000 + i,
               correlation=t.ids)
        t.span("kernel", "k", i * 50.0 + 9, 30, pid=0, tid=7, correlation=t.ids, device=0, stream=7)


def devices(t, n):
    for i in range(n):
        t.kernel(i * 5.0, device=i)


def devices_and_steps(t, n):
    """As many devices as steps: a table of both has the product of rows."""
    for i in range(n):
        t.label(f"ProfilerStep#{i}", i * 100.0, 99)
        t.kernel(i * 100.0 + 5, device=i)
        t.call("cudaDeviceSynchronize", i * 100.0 + 20, 25)


def streams(t, n):
    for i in range(n):
        t.kernel(i * 5.0, stream=7 + i)


def one_late_device(t, n):
    """All devices work from begin to end, one of them all the time."""
    for i in range(n):
        t.kernel(i * 1.0, device=i, dur=2)
        t.kernel(i * 1.0 + n * 50, device=i, dur=2)
        t.kernel(i * 50.0 + 20, device=0, dur=40)


def sync_sites(t, n):
    for i in range(n):
        t.label(f"where{i}", i * 100.0, 95)
        t.op(f"aten::item_{i}", i * 100.0 + 1, 90)
        t.kernel(i * 100.0 + 2, name=f"k{i}")
        t.call("cudaStreamSynchronize", i * 100.0 + 10, 30)


def syncs_in_loop(t, n):
    steps(t, n, 200.0, lambda t, i, ts: t.call("cudaStreamSynchronize", ts, 40))


def threads_that_wait(t, n):
    """Waits on many threads for the same long kernel."""
    t.kernel(0, dur=n * 30.0)
    for i in range(n):
        t.call("cudaDeviceSynchronize", 10 + i * 5.0, n * 30.0 - i * 5.0, tid=1000 + i)


def small_copies(t, n):
    steps(t, 4, n * 12.0)
    for i in range(n):
        t.copy(60 + i * 40.0, "HtoD" if i % 2 else "DtoH", size=64 + i,
               host="Pinned" if i % 3 else "Pageable")


def waited_copies(t, n):
    for i in range(n):
        t.op("aten::to", i * 60.0, 30)
        t.copy(i * 60.0 + 1, "DtoH")
        t.call("cudaStreamSynchronize", i * 60.0 + 6, 8)
        t.kernel(i * 60.0 + 32)


def streamed_weights(t, n):
    """Modules that copy their weights, run, and drop them."""
    for s in range(2):
        t.label(f"ProfilerStep#{s}", s * n * 100.0, n * 100.0 - 1)
        for i in range(n // 2):
            ts = s * n * 100.0 + i * 200.0
            t.python(f"nn.Module: Block_{i}", ts, 190)
            t.copy(ts + 5, size=(1 << 20) + i * 4096, dur=60)
            t.op("aten::mm", ts + 70, 20)
            t.kernel(ts + 72, dur=50)


def graphs(t, n):
    """`n` replays of graphs that all differ."""
    for i in range(n):
        corr = t.call("cudaGraphLaunch", i * 100.0, 5)
        for k in range(3):
            t.span("kernel", f"g{(i + k) % 17}_{i}", i * 100.0 + 10 + k * 20, 18, pid=0, tid=7,
                   correlation=corr, device=0, stream=7, **{"graph id": i, "graph node id": k})


def one_large_graph(t, n):
    for r in range(3):
        corr = t.call("cudaGraphLaunch", r * n * 20.0, 5)
        for k in range(n // 3):
            t.span("kernel", f"g{k % 29}", r * n * 20.0 + 10 + k * 20, 18, pid=0, tid=7,
                   correlation=corr, device=0, stream=7, **{"graph id": 1, "graph node id": k})


def allocations(t, n):
    total, live = 0, []
    rng = random.Random(5)
    steps(t, 4, n * 5.0)
    for i in range(n):
        if live and rng.random() < 0.45:
            addr, size = live.pop(rng.randrange(len(live)))
            total -= size
            t.memory(60 + i * 18.0, -size, total, addr=addr)
            continue
        size = 512 * rng.randint(1, 999)
        total += size
        live.append((4096 * (i + 1), size))
        t.memory(60 + i * 18.0, size, total, addr=4096 * (i + 1))


def allocation_sites(t, n):
    """Every operator allocates; all have names of their own; nothing is freed."""
    for i in range(n):
        t.op(f"aten::empty_{i}", i * 50.0, 20)
        t.memory(i * 50.0 + 1, 4096, 4096 * (i + 1), addr=4096 * (i + 1))
        t.kernel(i * 50.0 + 5)


def memory_of_devices(t, n):
    """Memory levels of as many devices as there can be, with stages around."""
    for i in range(n):
        t.label("fill", i * 50.0, 40)
        t.memory(i * 50.0 + 1, 4096, 4096, device=i % 100)
        t.kernel(i * 50.0 + 5)


def overheads(t, n):
    """Rows of the profiler's own work on lanes of their own, under launches."""
    for i in range(n):
        t.kernel(i * 50.0 + 2)
        t.span("overhead", "Command Buffer Full", i * 50.0 + 1, 30, tid=5000 + i % 3)
        t.span("overhead", "Activity Buffer Request", i * 50.0 + 35, 10, tid=6000)


def late_overheads(t, n):
    """Overheads on many lanes that all begin before those of the lane before."""
    for i in range(n):
        t.kernel(i * 50.0 + 2)
        t.span("overhead", "Command Buffer Full", (n - i) * 50.0, 30 + i % 7, tid=5000 + i)


def one_long_overhead(t, n):
    t.span("overhead", "Command Buffer Full", 0, n * 50.0, tid=5000)
    t.span("overhead", "Lazy Function Loading", 0, n * 50.0, tid=5001)
    for i in range(n):
        t.kernel(i * 50.0 + 2, after=10 + i % 5)


def backward_flows(t, n):
    """A backward pass on its own thread, linked to the forward one by flows and sequence ids."""
    for i in range(n):
        back = (2 * n - i) * 30.0
        t.op("aten::mm", i * 30.0, 20, **{"Sequence number": i, "Fwd thread id": 0})
        t.kernel(i * 30.0 + 2)
        t.op("autograd::engine::evaluate_function: MmBackward0", back, 25, tid=200,
             **{"Sequence number": i, "Fwd thread id": 1})
        t.kernel(back + 3, tid=200)
        t.flow(i, "fwdbwd", i * 30.0, back, end_tid=200)


def launch_flows(t, n):
    for i in range(n):
        t.kernel(i * 40.0)
        t.flow(t.ids, "ac2g", i * 40.0, i * 40.0 + 6, end_tid=7, end_pid=0)


def collectives(t, n):
    for i in range(n):
        t.kernel(i * 60.0, name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL", stream=20, dur=55,
                 **{"Collective name": "allreduce", "In msg nelems": 4096, "dtype": "BFloat16",
                    "Group size": 8, "Process Group Name": str(i)})
        t.kernel(i * 60.0 + 4, dur=20)


def one_huge_op(t, n):
    """One operator with everything inside it: each child has children."""
    t.op("aten::everything", 0, n * 40.0 + 100)
    for i in range(n):
        t.op("aten::add", i * 40.0 + 1, 30)
        t.op("aten::add_", i * 40.0 + 2, 25)
        t.kernel(i * 40.0 + 3)


def late_kernels(t, n):
    """The whole queue is launched before its first kernel runs."""
    for i in range(n):
        t.kernel(i * 4.0, after=n * 4.0 + i * 27, dur=25)
    t.call("cudaDeviceSynchronize", n * 4.0 + 1, n * 28.0)


def overlapping_kernels(t, n):
    """Kernels of many streams that all run at the same time."""
    for i in range(n):
        t.kernel(i * 4.0, stream=7 + i % 50, dur=n * 2.0)


def gaps_of_each_name(t, n):
    """A gap in front of every kernel, filled by a function of its own."""
    for i in range(n):
        t.python(f"app.py({i}): fn_{i}", i * 200.0, 150)
        t.kernel(i * 200.0 + 140, name=f"k{i % 40}", dur=20)


def elementwise_chain(t, n):
    for i in range(n):
        t.op("aten::add", i * 12.0, 10, **{"Input Dims": [[64, 64], [64, 64]],
                                          "Input type": ["float", "float"]})
        t.kernel(i * 12.0 + 2, name="void at::native::vectorized_elementwise_kernel<4, float>(int)",
                 dur=8)


def unusual_periods(t, n):
    """Kernels in an order that almost repeats, at every length: hard to call a loop."""
    rng = random.Random(3)
    for i in range(n):
        t.op(f"aten::{'abcdefgh'[(i * i // 7) % 8]}", i * 40.0, 30)
        t.kernel(i * 40.0 + 3, name=f"k{rng.choice('abcd') if i % 64 == 0 else 'abcd'[i % 4]}")


def same_start(t, n):
    """Everything at the same time: ties in every order."""
    for i in range(n):
        t.op(f"aten::op{i % 10}", 1000, 5 + i, tid=CPU_TID + i % 4)
        t.kernel(1000, after=10, dur=5 + i % 3, stream=7 + i % 2)


def gpu_labels(t, n):
    for i in range(n):
        t.label(f"part{i % 9}", i * 60.0, 50)
        t.kernel(i * 60.0 + 2)
        t.span("gpu_user_annotation", f"part{i % 9}", i * 60.0 + 8, 30, pid=0, tid=7)


def crossing_spans(t, n):
    for i in range(n):
        t.op(f"aten::op{i % 30}", i * 10.0, n * 5.0)
    for i in range(n):
        t.kernel(i * 40.0)


def colliding_ids(t, n):
    """Correlation ids that share their low bits once mixed as they were before the mixer had a seed."""
    mask, factor = (1 << 64) - 1, 0xd6e8feb86659fd93
    back = pow(factor, -1, 1 << 64)
    i = made = 0
    while made < n:
        i += 1
        key = i << 36
        for _ in range(2):
            key ^= key >> 32
            key = key * back & mask
        key ^= key >> 32
        if key >> 63:
            continue
        t.span("cuda_runtime", "cudaLaunchKernel", made * 40.0, 3, correlation=key)
        t.span("kernel", "k", made * 40.0 + 6, 30, pid=0, tid=7, correlation=key, device=0, stream=7)
        made += 1


SHAPES = {f.__name__: f for f in (
    nested_labels, nested_ops, nested_python, nested_same_name, nested_modules, nested_syncs,
    labels_without_work,
    staircase_steps, overlapping_steps, plain_steps, stage_loop, stage_names, labels_over_calls,
    op_names, shapes_of_one_op, threads, labelled_threads, processes, devices, devices_and_steps,
    streams, one_late_device,
    sync_sites, syncs_in_loop, threads_that_wait, small_copies, waited_copies, streamed_weights,
    graphs, one_large_graph, allocations, allocation_sites, memory_of_devices, overheads,
    late_overheads, one_long_overhead, backward_flows, launch_flows, collectives, one_huge_op,
    late_kernels, overlapping_kernels, gaps_of_each_name, elementwise_chain, unusual_periods,
    same_start, gpu_labels, crossing_spans, colliding_ids)}
