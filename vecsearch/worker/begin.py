"""The worker's first steps, while it is still small: leave the parent, take the lock, then load."""

from __future__ import annotations

import fcntl
import os
import site
import sys

from .start import lock_path

#: Descriptors that an ancestor may have left open.
MOST_DESCRIPTORS = 4096


def main(worker: str) -> None:
    """Serve until it is time to leave. Ends at once if another worker of this name lives."""
    _detach()
    if (lock := _lock(worker)) is None:
        return
    site.main()  # what -S left out
    from . import code

    installed = code.stamp()  # before anything of it is loaded
    from .serve import serve

    serve(worker, lock, installed)


def _detach() -> None:
    """A session of its own, no descriptor of Fossil's: who waits for their end must not wait for us."""
    os.closerange(3, MOST_DESCRIPTORS)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)


def _lock(worker: str) -> int | None:
    """The descriptor that holds the lock as long as this process lives."""
    if not (path := lock_path(worker)):
        return None
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(0)
    return lock
