"""What `async with strata.stage(...)` awaits: a value that is there already."""
from __future__ import annotations

from collections.abc import Generator
from typing import Any


class Done:
    """Awaiting it gives its value at once, without a turn of the event loop."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Generator[Any, None, Any]:
        return self.value
        yield  # a generator, though it never yields
