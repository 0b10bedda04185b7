"""What the profiler notes about itself is the same here and in the program that reads traces."""
import re
from pathlib import Path
from types import SimpleNamespace

from strata._base import overhead
from strata._timeline import breakdown

TABLE = Path(__file__).parents[2] / "src" / "analyze" / "names" / "overhead.c"


def test_the_table_is_that_of_the_program():
    rows = re.findall(r'\{"([^"]+)", OVERHEAD_(\w+)\}', TABLE.read_text())
    assert len(rows) > 8
    assert dict(overhead.KINDS) == {name: kind.lower() for name, kind in rows}


def test_names_of_every_spelling():
    assert overhead.kind("Command Buffer Full") == overhead.QUEUE_FULL
    assert overhead.kind("COMMAND_BUFFER_FULL") == overhead.QUEUE_FULL
    assert overhead.kind("Buffer Flush") == overhead.PROFILER
    assert overhead.kind("Lazy Function Loading") == overhead.LOADING
    assert overhead.kind("aten::mm") is overhead.kind("resource_kernel") is None


def row(key, ms, device="DeviceType.CPU"):
    return SimpleNamespace(key=key, count=1, device_type=device, self_cpu_time_total=ms * 1e3,
                           self_device_time_total=ms * 1e3)


def test_a_full_queue_is_neither_the_profilers_cost_nor_an_operator():
    found = breakdown.break_down([
        row("aten::mm", 3), row("Command Buffer Full", 50), row("Buffer Flush", 2),
        row("Lazy Function Loading", 7), row("gemm", 5, "DeviceType.CUDA")])
    assert found["profiler_overhead_ms"] == 2
    assert [o["name"] for o in found["top_operators"]] == ["aten::mm"]
    assert found["total_kernel_time_ms"] == 5
