"""no_anomaly: torch.autograd's anomaly detection stays off."""
from __future__ import annotations

from typing import Any

from strata._try.fixes.base import Fix, Note, alone


class NoAnomaly(Fix):
    name = "no_anomaly"
    switches = True
    unseen = "the program does not switch anomaly detection on"
    changes = "torch.autograd.set_detect_anomaly(True) and detect_anomaly() do nothing."
    safe = "Always; NaN in gradients is no longer reported where it arises."
    results = "Nothing."

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        fits = finding.get("rule") == "settings" and "anomaly" in str(finding.get("subject"))
        return [(cls.name, alone(finding))] if fits else []

    def on_torch(self, torch: Any) -> None:
        self.plain = torch.set_anomaly_enabled
        self.own: tuple[bool, bool] = (False, True)  # what the program wants: on, and looking for NaN

        def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
            self.own = mode, check_nan
            if mode and not getattr(self, "_noted", False):
                from strata._try.inside import places
                self._noted = True
                self.note(self, "site", source=places.here())
            self.plain(mode and not self.is_on, check_nan)

        torch.set_anomaly_enabled = set_anomaly_enabled

    def switch(self, on: bool) -> None:
        super().switch(on)
        self.plain(self.own[0] and not on, self.own[1])

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note(["remove torch.autograd.set_detect_anomaly(True)"], remove=True)]
