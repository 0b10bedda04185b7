"""near_cpus: the program runs on the processors beside its GPU (of its NUMA node)."""
from __future__ import annotations

import os
import sys
from typing import Any

from strata._base.process_settings import bus_of, cpus_of
from strata._try.fixes.base import Already, Fix, Note, Unfit


class NearCpus(Fix):
    name = "near_cpus"
    changes = (
        "All threads run on the processors of the GPU's NUMA node; memory taken from then on lies there."
    )
    safe = "If these processors are enough, and no other process is bound to them."
    results = "Nothing."

    def on_first_unit(self) -> None:
        torch = sys.modules["torch"]
        own = os.sched_getaffinity(0)
        near = own & cpus_of(bus_of(torch))
        if not near:
            raise Unfit("the system does not say which processors are beside the GPU")
        if near == own:
            raise Already("all processors that the program may use are beside the GPU")
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), near)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [
            Note(["numactl --cpunodebind=NODE --membind=NODE python ...  # nvidia-smi topo -m shows NODE"])
        ]
