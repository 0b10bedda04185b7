"""Records that are neither operators nor kernels but what the profiler and the driver note about
themselves. The program that reads traces has the same table (src/analyze/names/overhead.c); a test
compares them."""
from __future__ import annotations

PROFILER = "profiler"  # gone without the profiler
LOADING = "loading"  # code is loaded or compiled on its first use
QUEUE_FULL = "queue_full"  # a launch waits because the device is far behind

KINDS = {
    "activity buffer request": PROFILER,
    "buffer flush": PROFILER,
    "instrumentation": PROFILER,
    "resource": PROFILER,
    "uvm activity init": PROFILER,
    "lazy function loading": LOADING,
    "runtime triggered module loading": LOADING,
    "driver compiler": LOADING,
    "command buffer full": QUEUE_FULL,
    "buffer driver": PROFILER,
    "buffer time": PROFILER,
    "cuda profiling": PROFILER,
}


def kind(name: str) -> str | None:
    """What a record of this name stands for; None for operators and kernels."""
    return KINDS.get(name.lower().replace("_", " "))
