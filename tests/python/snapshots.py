"""Memory snapshots as torch.cuda.memory._dump_snapshot writes them, made by a small caching allocator of our
own: segments, blocks and the events that led there, with what the tests compare against."""
import pickle

SITE = "/opt/venv/lib/python3.12/site-packages/"


def frame(file, line, name):
    return {"filename": file, "line": line, "name": name}


MAIN = frame("/srv/train.py", 90, "main")
CALL = frame(SITE + "torch/nn/modules/module.py", 1762, "_call_impl")
STACKS = {
    "weights": [frame(SITE + "torch/nn/modules/module.py", 900, "_apply"),
                frame("/srv/train.py", 20, "build"), MAIN],
    "forward": [frame(SITE + "torch/nn/modules/linear.py", 125, "forward"), CALL,
                frame("/srv/model.py", 33, "forward"), CALL, frame("/srv/train.py", 51, "step"), MAIN],
    "optimizer": [frame(SITE + "torch/optim/adamw.py", 200, "_init_group"),
                  frame("/srv/train.py", 53, "step"), MAIN],
    "kept": [frame("/srv/train.py", 57, "log"), MAIN],
    "huge": [frame("/srv/train.py", 70, "evaluate"), MAIN],
    "backward": [],
}
ROUND = 512
SEGMENT = 20 << 20


class Allocator:
    """Best fit in segments; what is larger than a segment gets one of its own."""

    def __init__(self, capacity=8 << 30, entries=None, record=True):
        self.capacity, self.entries, self.record = capacity, entries, record
        self.events = []
        self.segments = []  # [address, size, blocks]; a block: [address, size, owner]
        self.where, self.time, self.next = {}, 1_700_000_000_000_000, 0x7F00_0000_0000
        self.live = self.reserved = self.peak = 0

    def event(self, action, addr, size, stack, **more):
        self.time += 7
        if self.record:
            self.events.append({"action": action, "addr": addr, "size": size, "stream": 0, "device": 0,
                                "time_us": self.time, "frames": STACKS[stack], **more})

    def room(self, size):
        free = [(b[1], s, i) for s, seg in enumerate(self.segments) for i, b in enumerate(seg[2])
                if b[2] is None and b[1] >= size]
        return min(free) if free else None

    def alloc(self, key, requested, stack):
        size = -(-requested // ROUND) * ROUND
        found = self.room(size)
        if not found:
            whole = max(SEGMENT, size)
            if self.reserved + whole > self.capacity:
                self.event("oom", self.capacity - self.reserved, size, stack,
                           device_free=self.capacity - self.reserved)
                raise MemoryError
            self.segments.append([self.next, whole, [[self.next, whole, None]]])
            self.event("segment_alloc", self.next, whole, stack)
            self.next += whole + (1 << 20)
            self.reserved += whole
            found = self.room(size)
        _, s, i = found
        blocks = self.segments[s][2]
        address, old, _ = blocks[i]
        blocks[i] = [address, size, (requested, stack)]
        if old > size:
            blocks.insert(i + 1, [address + size, old - size, None])
        self.where[key] = (s, address)
        self.event("alloc", address, requested, stack)  # torch writes what was asked for
        self.live += requested
        self.peak = max(self.peak, self.live)

    def free(self, key):
        s, address = self.where.pop(key)
        blocks = self.segments[s][2]
        [i] = [i for i, b in enumerate(blocks) if b[0] == address]
        requested = blocks[i][2][0]
        self.event("free_requested", address, requested, "kept")
        self.event("free_completed", address, requested, "kept")
        blocks[i][2] = None
        self.live -= requested
        for at in (i + 1, i):  # joined with free neighbours
            if 0 < at < len(blocks) and blocks[at][2] is None and blocks[at - 1][2] is None:
                blocks[at - 1][1] += blocks.pop(at)[1]

    def block(self, b):
        requested, stack = b[2] or (0, "backward")
        return {"address": b[0], "size": b[1], "requested_size": requested,
                "state": "active_allocated" if b[2] else "inactive", "frames": STACKS[stack]}

    def snapshot(self):
        segments = []
        for address, size, blocks in self.segments:
            used = sum(b[1] for b in blocks if b[2])
            segments.append({"device": 0, "address": address, "total_size": size, "allocated_size": used,
                             "active_size": used, "requested_size": sum(b[2][0] for b in blocks if b[2]),
                             "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                             "is_expandable": False, "frames": [], "blocks": [self.block(b) for b in blocks]})
        events = self.events[-self.entries:] if self.entries else self.events
        return {"segments": segments, "device_traces": [events], "external_annotations": [],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1}}


def training(steps=8, keeps=0, layers=4, width=1 << 20, **more):
    """A loop: weights, activations that live until the backward pass, an optimizer; `keeps` bytes per step
    are never freed."""
    a = Allocator(**more)
    for i in range(layers):
        a.alloc(("w", i), width, "weights")
    for step in range(steps):
        for i in range(layers):
            a.alloc(("a", i), 3 * width, "forward")
        for i in reversed(range(layers)):
            a.alloc(("g", i), width, "backward")
            a.free(("a", i))
        for i in range(layers):
            if step == 0:
                a.alloc(("o", i), 2 * width, "optimizer")
            a.free(("g", i))
        if keeps:
            a.alloc(("k", step), keeps, "kept")
    return a


def write(path, value, protocol=4):
    with open(path, "wb") as f:
        pickle.dump(value, f, protocol=protocol)
    return path
