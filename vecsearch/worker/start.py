"""Starting a worker without waiting for it: at most one at a time, and not again and again."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Mapping

from .. import resident

#: Seconds between two attempts: one that cannot live must not be started for every visitor.
PAUSE = 2.0
#: Run by the same interpreter as this process, over the same paths.
BEGIN = "import sys; sys.path += sys.argv[2:]; from vecsearch.worker.begin import main; main(sys.argv[1])"


def lock_path(worker: str) -> str:
    """The file on which a living worker holds a lock; "" without a folder for it."""
    place = resident.folder()
    return f"{place}/{worker}.lock" if place else ""


def start(worker: str, environ: Mapping[bytes, bytes]) -> None:
    """Start the worker of this name, unless one runs or was started a moment ago. Raises OSError."""
    if not (path := lock_path(worker)) or time.time() - _last(path) < PAUSE:
        return
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.utime(lock)
    except BlockingIOError:
        return
    finally:
        os.close(lock)
    interpreter = sys.orig_argv[0]  # sys.executable is empty where there is no PATH
    nothing = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in (0, 1, 2)]
    os.posix_spawn(interpreter, [interpreter, "-I", "-S", "-c", BEGIN, worker, *sys.argv[2:]],
                   {**environ, b"MALLOC_ARENA_MAX": b"2"}, file_actions=nothing)


def _last(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except FileNotFoundError:
        return 0.0
