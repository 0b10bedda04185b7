"""no_determinism: torch may use algorithms whose results differ in the last bits."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Fix, Note, alone


class NoDeterminism(Fix):
    name = "no_determinism"
    switches = True
    unseen = "the program does not call torch.use_deterministic_algorithms(True)"
    changes = "torch.use_deterministic_algorithms(True) does nothing."
    safe = "If runs need not be equal to the last bit."
    results = "Rounding: sums in another order, from run to run."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "settings" and "deterministic" in str(finding.get("subject"))
        return [(cls.name, alone(finding))] if fits else []

    def on_torch(self, torch: Any) -> None:
        self.plain = torch.use_deterministic_algorithms
        self.own: tuple[bool, bool] = (False, False)  # what the program wants: on, and only warnings

        def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
            self.own = mode, warn_only
            if mode and not getattr(self, "_noted", False):
                from strata._try.inside import places
                self._noted = True
                self.note(self, "site", source=places.here())
            self.plain(mode and not self.is_on, warn_only=warn_only)

        torch.use_deterministic_algorithms = use_deterministic_algorithms

    def switch(self, on: bool) -> None:
        super().switch(on)
        self.plain(self.own[0] and not on, warn_only=self.own[1])

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["remove torch.use_deterministic_algorithms(True)"], remove=True)]
