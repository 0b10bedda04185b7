"""Where results go. Nothing is overwritten: a name that is taken gets a number."""
from __future__ import annotations

import json
import os
import re
import time
from typing import Any

from strata.bench.errors import BenchError


class Folder:
    """Made when the first file is put into it."""

    def __init__(self, given: str | None, beside: str | None, name: str) -> None:
        stamp = time.strftime("%Y%m%d_%H%M%S")
        if given is not None:
            self.path = given
        elif beside is not None:
            self.path = os.path.join(beside, f"bench_{stamp}")
        else:
            out = os.environ.get("STRATA_OUT") or "strata_out"
            self.path = os.path.join(out, clean(name), stamp)

    def new(self, stem: str, ending: str) -> str:
        """A path that does not exist yet."""
        try:
            os.makedirs(self.path, exist_ok=True)
        except OSError as why:
            raise BenchError(f"{self.path}: {why.strerror}; choose another folder with -o") from why
        for number in range(1, 10000):
            tail = f"_{number}" if number > 1 else ""
            path = os.path.join(self.path, f"{clean(stem)}{tail}{ending}")
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                return path
            except FileExistsError:
                continue
            except OSError as why:
                raise BenchError(f"{path}: {why.strerror}; choose another folder with -o") from why
        raise BenchError(f"{self.path} has too many results; choose another folder with -o")


def clean(name: str) -> str:
    """A stage's name as part of a file's."""
    cleaned = re.sub(r"[^\w.+=@-]+", "_", name)[:120]
    return cleaned if not cleaned.startswith(".") else "_" + cleaned


def finite(value: Any) -> Any:
    """Replaces infinity, which JSON cannot express."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(k): finite(v) for k, v in value.items()}
    return [finite(v) for v in value] if isinstance(value, (list, tuple)) else value


def write_json(path: str, value: Any) -> None:
    """The value as JSON."""
    with open(path, "w", encoding="utf-8") as out:
        json.dump(finite(value), out, indent=1, default=str)
        out.write("\n")
