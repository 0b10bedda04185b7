"""What a process of a trial leaves behind: one JSON object per line, written at once, so that
nothing is lost when the program is killed. A forked process writes a file of its own."""
from __future__ import annotations

import json
import os
import threading
from typing import Any


class Log:
    """The file of this process; nothing at all when it cannot be written. A program may close
    descriptors that are not its own, and open files that get their numbers: the file is known by its
    identity, and opened again where the number has come to mean another one."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._file = -1
        self._identity: tuple[int, int] | None = None
        self._pid = 0

    def write(self, what: str, **fields: Any) -> None:
        """One more line."""
        line = json.dumps({"what": what, **fields}, default=str) + "\n"
        with self._lock:
            try:
                if self._pid != os.getpid() or not self._is_open():
                    self._open()
                os.write(self._file, line.encode())
            except OSError:
                pass

    def path(self, name: str) -> str:
        """A file of this process in the trial's folder."""
        return os.path.join(self.folder, name)

    def _open(self) -> None:
        self._pid = os.getpid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self.path(f"units-{self._pid}.jsonl"), flags, 0o644)
        self._identity = self._found()

    def _is_open(self) -> bool:
        try:
            return self._found() == self._identity
        except OSError:
            return False

    def _found(self) -> tuple[int, int]:
        found = os.fstat(self._file)
        return found.st_dev, found.st_ino

    def renew_lock(self) -> None:
        """In a forked child, where another thread may have held it."""
        self._lock = threading.Lock()
