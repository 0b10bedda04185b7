"""What a fix is. Its words are read by `strata try`, its methods run in the process of the program."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any


class FixError(ValueError):
    """A fix that was requested in a way it cannot be."""


class Unfit(RuntimeError):
    """The program is not such that the fix can be applied; the text says why."""


class Already(Unfit):
    """The program does so by itself: there is nothing to try."""


class Note:
    """A piece of code to write: lines to insert, or keywords of a call to change."""

    def __init__(self, text: list[str], *, after: str = "", call: dict[str, Any] | None = None,
                 remove: bool = False) -> None:
        self.text = text  # as it is shown
        self.after = after  # what has to exist by then: "import torch", or a name
        self.call = call or {}  # {"set": {name: text}, "drop": [names]} for the call at the fix's site
        self.remove = remove  # the statement at the fix's site goes


class Fix:
    """One fix with its arguments; `spec` is how the user writes it."""

    name = ""
    takes = ""  # what follows the name: "MODULE[:MODE]"
    changes = ""  # what it changes, a sentence
    safe = ""  # when it is safe
    results = ""  # what it may change in the results
    unseen = ""  # what to say if the program has nothing it applies to; "" if that is not known
    switches = False  # whether it can be turned on and off while the program runs
    block = 0  # if its gain is pauses that come occasionally: units of a block, at least
    settles = 0  # units at the beginning of a block that what was on before still affects: memory it kept
    set_up_s = 0.0  # about what it takes to set it up, to decide who is tried first
    order = 5  # among fixes of one trial: smaller first
    module = ""  # the module it is about, "" if none

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments
        self.spec = ":".join([self.name, *arguments])
        self.note: Callable[..., None] = lambda *a, **k: None
        self.failed: Callable[..., None] = lambda *a, **k: None
        self.is_on = True
        self.is_training = False  # the program: its units are steps of an optimizer
        self.is_shared = False  # the process: others alternate in it, and it begins without any
        self.together: tuple[str, ...] = ()  # fixes that are on now
        self.read(arguments)

    def read(self, arguments: list[str]) -> None:
        """Checks the arguments."""
        if arguments:
            raise FixError(f"{self.name} takes no argument")

    @property
    def slot(self) -> str:
        """Of fixes with the same slot only one can be applied."""
        return self.name

    def settles_in(self, unit: str) -> int:
        """`settles`, where units of that kind are timed: "call:UNet", "step:optimizer"."""
        return self.settles

    # ---- for the report ----

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        """(fix, predicted gain in percent) that a finding of the report asks for. `module` is what
        the finding is about, if it is about one."""
        return []

    def environment(self) -> dict[str, str]:
        """Variables of the program's environment."""
        return {}

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        """What to write into the program. `written` is the module there; `seen` has the device, whether the
        program trains, which call is to be changed (`call`), by which library it is made (`by`), and what
        seen_of() has returned."""
        return []

    # ---- in the program ----

    def at_start(self) -> None:
        """Before the first line of the program."""

    def on_torch(self, torch: Any) -> None:
        """torch has been imported."""

    def seen_of(self, module: Any) -> dict[str, Any]:
        """What code() has to know of the module."""
        return {}

    def on_module(self, module: Any) -> None:
        """Its module is there, and about to be called."""

    def on_first_unit(self) -> None:
        """The program has set everything up."""

    def when_warm(self) -> None:
        """After some units."""

    def switch(self, on: bool) -> None:
        """On and off, between two units."""
        self.is_on = on

    def wrap(self, module: Any) -> None:
        """Calls of the module go through call() while the fix is on."""
        from strata._try.inside import modules
        modules.around(module, self._while_on)

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Instead of plain(*args, **kwargs)."""
        return plain(*args, **kwargs)

    def _while_on(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        if not self.is_on:
            return plain(*args, **kwargs)
        if not self.is_shared:
            return self.call(plain, args, kwargs)
        try:
            return self.call(plain, args, kwargs)
        except Exception as why:
            self.failed(self, why)  # it is off now, and the others go on
            return plain(*args, **kwargs)


def alone(finding: dict[str, Any]) -> float:
    """The predicted gain of a finding's fix, done alone."""
    return float(finding.get("predicted_gain_alone_pct") or finding.get("predicted_gain_pct") or 0)


def option(finding: dict[str, Any], name: str) -> float | None:
    """The predicted gain of one of several ways to fix it."""
    for found in finding.get("options", []):
        if found.get("name") == name:
            value = found.get("predicted_gain_pct", found.get("gain_pct"))
            return float(value) if value is not None else None
    return None


def module_argument(name: str, arguments: list[str]) -> str:
    if not arguments or not arguments[0]:
        raise FixError(f"{name} needs the name of a module: {name}:unet, or {name}:model for the "
                       "one that does most of the work")
    return arguments[0]


def tensors_mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with every tensor in its containers changed; outputs of models, too."""
    import sys
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(tensors_mapped(v, change) for v in value)
    if type(value) is dict:
        return {k: tensors_mapped(v, change) for k, v in value.items()}
    if isinstance(value, dict) and hasattr(value, "to_tuple"):  # outputs of transformers, diffusers
        return type(value)(**{k: tensors_mapped(v, change) for k, v in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(tensors_mapped(v, change) for v in value))
    return value
