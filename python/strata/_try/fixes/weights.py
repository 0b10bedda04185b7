"""Weights of a module in another form: type or layout."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def are_trained(module: Any, is_training: bool) -> bool:
    """Whether its weights change. A program that trains may begin with an evaluation."""
    return is_training and any(p.requires_grad for p in module.parameters())


class Weights:
    """Parameters and buffers as they are, and changed. Where both are needed again both are kept, at
    the same places: a graph that was captured finds them there."""

    def __init__(self, module: Any, changed: Callable[[Any], Any],
                 back: Callable[[Any], Any] | None = None, is_training: bool = False) -> None:
        self.tensors = [*module.parameters(), *module.buffers()]
        self.changed, self.back = changed, back
        self.trains = are_trained(module, is_training or bool(module.training))
        self.is_changed = False
        self.kept: list[tuple[Any, Any]] | None = None

    def change(self, on: bool, again: bool) -> None:
        """Into the other form and back; `again` if that will be requested more than once."""
        if not again or self.trains:  # weights that are trained are not what they were
            form = self.changed if on else self.back
            if form is not None and on != self.is_changed:
                for t in self.tensors:
                    t.data = form(t.data)
            self.is_changed = on
            return
        if self.kept is None:
            if not on:
                return
            self.kept = [(t.data, self.changed(t.data)) for t in self.tensors]
        for t, forms in zip(self.tensors, self.kept):
            t.data = forms[on]
