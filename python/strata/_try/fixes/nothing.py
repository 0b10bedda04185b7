"""nothing: the unchanged program, to see what the machine's noise looks like."""
from strata._try.fixes.base import Fix


class Nothing(Fix):
    name = "nothing"
    changes = "Nothing. It shows what this machine's noise looks like, and must gain nothing."
    safe = "Always."
    results = "Nothing."
    takes = "[LABEL]"
    switches = True

    def read(self, arguments: list[str]) -> None:
        """Any label: several of them can be tried."""

    @property
    def slot(self) -> str:
        return self.spec
