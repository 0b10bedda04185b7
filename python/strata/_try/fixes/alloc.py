"""alloc:expandable: torch's allocator grows its segments instead of adding more."""
from __future__ import annotations

import os
from typing import Any

from strata._try.fixes.base import Fix, FixError, Note, alone

SETTING = "expandable_segments:True"
NAMES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")  # the second is the older one


class Alloc(Fix):
    name = "alloc"
    takes = "expandable"
    changes = f"PYTORCH_CUDA_ALLOC_CONF={SETTING}."
    safe = "Unless memory is shared with other processes by CUDA IPC, which not all versions support with it."
    results = "Nothing."

    def read(self, arguments: list[str]) -> None:
        if arguments != ["expandable"]:
            raise FixError("alloc needs an argument: alloc:expandable")

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [("alloc:expandable", alone(finding))] if (
            finding.get("rule") == "allocation_in_loop") else []

    def environment(self) -> dict[str, str]:
        """What the user has set stays."""
        own = os.environ.get(NAMES[0]) or os.environ.get(NAMES[1]) or ""
        kept = [s for s in own.split(",") if s and not s.startswith("expandable_segments:")]
        return dict.fromkeys(NAMES, ",".join([*kept, SETTING]))

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"PYTORCH_CUDA_ALLOC_CONF={SETTING}  # in the environment of the program"])]
