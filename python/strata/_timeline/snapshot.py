"""strata.snapshot: the last seconds of this program, written out now, under `strata run --keep 20s`."""
from __future__ import annotations

import os
import socket

from strata._base import settings

ANSWER_S = 60  # the files may be large


def _ask(folder: str, request: str) -> str:
    """Through the descriptor of the folder: the path of a socket may have 108 bytes."""
    directory = os.open(os.path.join(folder, "control"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
            control.settimeout(ANSWER_S)
            control.connect(f"/proc/self/fd/{directory}/{os.getpid()}")
            control.sendall(request.encode() + b"\n")
            with control.makefile(encoding="utf-8", errors="replace") as answer:
                return answer.readline().rstrip("\n")
    finally:
        os.close(directory)


def snapshot(why: str = "strata.snapshot") -> str | None:
    """The folder of the snapshot, for `strata report`; None where nothing is kept, which is reported once.
    The program waits for the files to be written."""
    run = os.environ.get("STRATA_RUN")
    if not run or not os.environ.get("STRATA_KEEP"):
        settings.say("no snapshot: the program was not started with strata run --keep")
        return None
    try:
        answer = _ask(run, f"snapshot {' '.join(str(why).split())[:400]}")
    except OSError as trouble:
        settings.say(f"no snapshot: {trouble}")
        return None
    if answer.startswith("ok folder="):
        return answer.removeprefix("ok folder=")
    settings.say(f"no snapshot: {answer.removeprefix('error ')}")
    return None
