"""A torch with a device that is not there: what strata asks of torch.cuda, under the test's control.
The device works through what it is given at its own pace; time on it is a number."""
import sys
import types


class Device:
    """The state of the pretended device."""

    def __init__(self):
        self.initialized = True
        self.given_ms = 0.0  # work put into the stream so far
        self.done_ms = 0.0  # how far the device has come
        self.allocated = [0, 0]
        self.peak = [0, 0]
        self.capturing = False
        self.synchronized = 0
        self.events = 0
        self.current = 0
        self.log = []  # what was asked of it, in order

    def work(self, ms):
        self.given_ms += ms
        self.log.append("work")

    def allocate(self, n, index=0):
        self.allocated[index] += n
        self.peak[index] = max(self.peak[index], self.allocated[index])

    def free(self, n, index=0):
        self.allocated[index] -= n


device = Device()


class Event:
    def __init__(self, enable_timing=False):
        assert enable_timing
        device.events += 1
        self.at = None

    def record(self):
        assert not device.capturing
        device.log.append("mark")
        self.at = device.given_ms

    def query(self):
        return device.done_ms >= self.at

    def synchronize(self):
        device.done_ms = max(device.done_ms, self.at)

    def elapsed_time(self, end):
        assert device.done_ms >= end.at, "asked before the device was there"
        return end.at - self.at


class Tensor:
    pass


def install():
    """Puts the fake into sys.modules and returns the device."""
    torch = types.ModuleType("torch")
    cuda = types.ModuleType("torch.cuda")
    memory = types.ModuleType("torch.cuda.memory")

    def nested(device=None):
        index = globals()["device"].current if device is None else device
        d = globals()["device"]
        return {kind: {"all": {"current": d.allocated[index] * f, "peak": d.peak[index] * f}}
                for kind, f in (("allocated_bytes", 1), ("reserved_bytes", 2))}

    def memory_stats(device=None):
        stats = nested(device)
        return {f"{kind}.all.{what}": stats[kind]["all"][what] for kind in stats
                for what in ("current", "peak")}

    def max_memory_allocated(device=None):
        return memory.memory_stats(device)["allocated_bytes.all.peak"]

    def reset_peak_memory_stats(device=None):
        d = globals()["device"]
        index = d.current if device is None else device
        d.peak[index] = d.allocated[index]

    def synchronize(device=None):
        d = globals()["device"]
        d.synchronized += 1
        d.log.append("wait")
        d.done_ms = d.given_ms

    memory.memory_stats = cuda.memory_stats = memory_stats
    memory.reset_peak_memory_stats = cuda.reset_peak_memory_stats = reset_peak_memory_stats
    cuda.max_memory_allocated = max_memory_allocated
    cuda.memory_stats_as_nested_dict = nested
    cuda.memory = memory
    cuda.Event = Event
    cuda.synchronize = synchronize
    cuda.is_initialized = lambda: device.initialized
    cuda.is_current_stream_capturing = lambda: device.capturing
    cuda.device_count = lambda: 2
    cuda.current_device = lambda: device.current
    cuda.mem_get_info = lambda index: (10**9, 4 * 10**9)
    torch.cuda = cuda
    torch.Tensor = Tensor
    torch.Generator = type("Generator", (), {})
    torch.dtype = type("dtype", (), {})
    torch.device = type("device", (), {})
    torch.__version__ = "0.fake"
    torch.version = types.SimpleNamespace(cuda="0", hip=None)
    sys.modules.update({"torch": torch, "torch.cuda": cuda, "torch.cuda.memory": memory})
    return device
