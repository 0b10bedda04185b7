"""{stage}_breakdown.json by TeleFuser's keys: the 50 kernels that take longest; where there is no device, the
operators."""
from __future__ import annotations

from typing import Any

from strata._timeline import breakdown

MOST_ROWS = breakdown.MOST_ROWS


def of(name: str, profiler: Any) -> dict[str, Any]:
    """The table of a profile that was stopped."""
    found = breakdown.of(profiler, None)
    kernels = [{"name": k["name"], "ms": k["total_ms"], "cuda_ms": k["total_ms"], "cpu_ms": 0.0,
                "calls": k["calls"]} for k in found["top_kernels"]]
    operators = [{"name": o["name"], "ms": o["self_cpu_ms"], "cuda_ms": 0.0, "cpu_ms": o["self_cpu_ms"],
                  "calls": o["calls"]} for o in found["top_operators"]]
    rows = kernels or operators
    return {"name": name, "total_kernel_time_ms": sum(row["ms"] for row in rows), "num_kernels": len(rows),
            "top_kernels": rows[:MOST_ROWS], "top_operators": found["top_operators"][:MOST_ROWS]}
