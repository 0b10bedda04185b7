"""The run's folder and the files in it. No file of another process or run is ever overwritten: a
name is claimed first, and one that is taken gets another."""
from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import sys
from typing import Any

from strata._base import settings
from strata._base.extension import core

_own: dict[str, str] = {}  # name asked for -> the last path claimed for it by this process
_own_rank: dict[str, int] = {}  # name asked for -> the rank by then
_known: dict[str, tuple[int, int]] = {}  # folder -> which one it was when it was seen first


def _know(path: str) -> None:
    """The owner of the place of runs may put another folder, or a link to one, where this one was."""
    if path not in _known:
        with contextlib.suppress(OSError):
            found = os.stat(path)
            _known[path] = found.st_dev, found.st_ino


if os.environ.get("STRATA_RUN"):
    _know(os.path.abspath(os.environ["STRATA_RUN"]))


def pipeline_name() -> str:
    """What is run: the module or script, without its ending."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != "__main__":
        return spec.name.removesuffix(".__main__")
    script = getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else "")
    stem = os.path.splitext(os.path.basename(script))[0]
    return stem if stem and stem != "-c" else "python"


def rank() -> tuple[int, int]:
    """(rank, world size), (-1, -1) when this process is not one of several. torch.distributed
    knows best once it is there: processes may be made ranks by the program itself."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            found = distributed.get_rank(), distributed.get_world_size()
            if found[1] > 1:
                return found
    except Exception:
        pass
    return core.rank()


def folder() -> str | None:
    """The run's folder, made if it is not there; None when it cannot be made."""
    path = core.run_dir()
    if path is None:
        trouble = core.trouble()
        if trouble:
            settings.say(f"cannot write any files: {trouble}")
    else:
        _know(path)
    return path


@contextlib.contextmanager
def _held(path: str) -> Any:
    """A descriptor of the folder, to open files in: it stays that folder whatever its name leads to."""
    fd = _open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        now = os.fstat(fd)
        if _known.get(path, (now.st_dev, now.st_ino)) != (now.st_dev, now.st_ino):
            raise OSError(errno.ESTALE, "another folder took the place of the run's")
        yield fd
    finally:
        os.close(fd)


def clean(name: str) -> str:
    """A name as part of a file's."""
    cleaned = re.sub(r"[^\w.+=@-]+", "_", name)[:120]
    return cleaned if not cleaned.startswith(".") else "_" + cleaned


_MAIN = "STRATA_MAIN_PID"
os.environ.setdefault(_MAIN, str(os.getpid()))


def is_main() -> bool:
    """Whether this process was not started by another one that is recorded: workers of a server or
    a DataLoader leave the plain names to the process they work for."""
    return os.environ.get(_MAIN) == str(os.getpid())


def _names(name: str) -> Any:
    stem, dot, ending = clean(name).partition(".")
    number = rank()[0]
    if number >= 0:
        stem += f"_rank{number}"
    if name not in _own:
        if number >= 0 or is_main():
            yield stem + dot + ending
        stem += f"_pid{os.getpid()}"
        yield stem + dot + ending
    elif f"_pid{os.getpid()}" in os.path.basename(_own[name]):
        stem += f"_pid{os.getpid()}"
    for i in range(2, 10000):
        yield f"{stem}_{i}{dot}{ending}"


def claim(name: str, again: bool = False) -> str | None:
    """A path in the run's folder for this process alone, with the rank in its name. With `again`
    the same path for the same name every time."""
    if again and name in _own and _own_rank[name] == rank()[0]:
        return _own[name]
    before = _own.pop(name, None) if again else None  # of a process that had no rank then
    path = folder()
    if path is None:
        return None
    for candidate in _names(name):
        full = os.path.join(path, candidate)
        try:
            with _held(path) as place:
                os.close(_open(candidate, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, place))
        except FileExistsError:
            continue
        except OSError as why:
            settings.say(f"cannot write {candidate}: {why}")
            return None
        _own[name] = full
        _own_rank[name] = rank()[0]
        if before is not None:
            with contextlib.suppress(OSError):
                os.unlink(before)
        return full
    return None


def is_claimed(name: str) -> bool:
    """Whether this process has a file of that name."""
    return name in _own


def _open(path: str, flags: int, mode: int = 0, place: int | None = None) -> int:
    """os.open with a number above those of the standard streams: a program that has closed them may
    still write there."""
    fd = os.open(path, flags | os.O_CLOEXEC, mode, dir_fd=place)
    if fd > 2:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(fd)


def _create(name: str, instead_of: str, place: int) -> Any:
    """A new text file, as open to others as the one whose place it takes."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=place)  # left by a process of the same number that was killed
    fd = _open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, place)
    with contextlib.suppress(OSError):
        os.fchmod(fd, os.stat(instead_of, dir_fd=place).st_mode & 0o777)
    return open(fd, "w", encoding="utf-8", errors="replace")


def open_found(path: str, more: int = 0) -> Any:
    """The bytes of a file that was found in a folder, not named by the user. A pipe in its place would
    never say anything, and a device has no end."""
    fd = _open(path, os.O_RDONLY | os.O_NONBLOCK | more)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "a pipe, a device or a folder, not a file", path)
    return open(fd, "rb")


def read_plain(path: str) -> str:
    """The text of a small plain file; a link is not followed."""
    with open_found(path, os.O_NOFOLLOW) as f:
        return f.read(1 << 20).decode(errors="replace")


def write_text(path: str, text: str) -> bool:
    """Replaces the claimed file as a whole."""
    folder_of, name = os.path.split(path)
    temporary = f"{name}.tmp{os.getpid()}-{os.uname().nodename[:40]}"  # hosts may share the folder
    try:
        with _held(folder_of or ".") as place:
            _replace(name, temporary, text, place)
        return True
    except OSError as why:
        settings.say(f"cannot write {name}: {why}")
        return False


def _replace(name: str, temporary: str, text: str, place: int) -> None:
    try:
        with _create(temporary, name, place) as out:
            out.write(text)
        os.replace(temporary, name, src_dir_fd=place, dst_dir_fd=place)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=place)
            if os.stat(name, dir_fd=place).st_size == 0:
                os.unlink(name, dir_fd=place)
        raise


def write_json(path: str, value: Any) -> bool:
    """The value as JSON; what JSON has no word for becomes null or text."""
    return write_text(path, json.dumps(_finite(value), indent=1, ensure_ascii=False, default=str) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return value


def tidy() -> None:
    """At the end of the process that started a run: the note by which its processes agreed on the
    folder is not needed any more."""
    path = core.run_dir() if _own else None
    if path is None or not os.environ.get("STRATA_LAUNCH", "").startswith(f"process {os.getpid()} "):
        return
    parent, name = os.path.split(path)
    for note in os.listdir(parent):
        full = os.path.join(parent, note)
        if note.startswith(".launch-"):
            with contextlib.suppress(OSError):
                if read_plain(full) == name:
                    os.unlink(full)


def forget() -> None:
    """In a forked child: the parent's files are not ours."""
    _own.clear()
    _own_rank.clear()
