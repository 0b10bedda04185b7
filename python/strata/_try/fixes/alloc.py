"""alloc:expandable: torch's allocator grows its segments instead of adding more."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Fix, FixError, Note, alone

SETTING = "expandable_segments:True"


class Alloc(Fix):
    name = "alloc"
    takes = "expandable"
    changes = f"PYTORCH_CUDA_ALLOC_CONF={SETTING}."
    safe = "Always; memory shared with other processes by CUDA IPC is not supported by all versions."
    results = "nothing"

    def read(self, arguments: list[str]) -> None:
        if arguments != ["expandable"]:
            raise FixError("alloc takes expandable")

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [("alloc:expandable", alone(finding))] if (
            finding.get("rule") == "allocation_in_loop") else []

    def environment(self) -> dict[str, str]:
        return {"PYTORCH_CUDA_ALLOC_CONF": SETTING, "PYTORCH_ALLOC_CONF": SETTING}

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"PYTORCH_CUDA_ALLOC_CONF={SETTING}  # in the environment of the program"])]
