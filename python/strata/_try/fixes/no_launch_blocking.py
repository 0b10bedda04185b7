"""no_launch_blocking: launches return before their kernels have run."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Fix, Note, alone

NAMES = ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING")


class NoLaunchBlocking(Fix):
    name = "no_launch_blocking"
    changes = "CUDA_LAUNCH_BLOCKING=0."
    safe = "Always; errors of kernels are reported later than where they arise."
    results = "Nothing."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "settings" and finding.get("subject") == NAMES[0]
        return [(cls.name, alone(finding))] if fits else []

    def environment(self) -> dict[str, str]:
        return dict.fromkeys(NAMES, "0")

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["no CUDA_LAUNCH_BLOCKING=1 in the environment of the program"])]
