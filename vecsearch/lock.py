"""One index run at a time per repository, and never a lock left behind by a killed process.

The kernel drops a `flock` when its holder dies. It is held on a file below /tmp rather than on the
repository: there it could meet SQLite's own locks (on BSD and on NFS they are of one kind), and nothing
stands beside the repository. It saves work, not data: two runs at once are safe by their transactions.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Not $TMPDIR: the hook, the watcher and an administrator's shell must mean the same folder.
FOLDER = f"/tmp/vecsearch-{os.getuid()}"


@contextmanager
def exclusive(repository: Path, purpose: str, *, waiting: Callable[[], None] | None = None) -> Iterator[bool]:
    """Hold the repository's lock for `purpose`; yields whether it was had. With `waiting`, which is
    called once, wait for it instead."""
    file = _open(repository, purpose)
    if file is None:
        yield True
        return
    try:
        yield _lock(file, waiting)
    finally:
        os.close(file)


def is_free(repository: Path, purpose: str) -> bool:
    """Whether nobody holds the lock now."""
    with exclusive(repository, purpose) as had:
        return had


def _lock(file: int, waiting: Callable[[], None] | None) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if waiting is None:
            return False
        waiting()
        fcntl.flock(file, fcntl.LOCK_EX)
    return True


def _open(repository: Path, purpose: str) -> int | None:
    """None where there is no folder that is surely ours: then nothing is locked."""
    if not folder_is_ours():
        return None
    try:
        facts = os.stat(repository)
        return os.open(f"{FOLDER}/{purpose}-{facts.st_dev}-{facts.st_ino}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None


def folder_is_ours() -> bool:
    """Whether there is, or can be made, the folder of the locks. Anyone may write to /tmp: one of that name
    may have been made by another."""
    try:
        with suppress(FileExistsError):
            os.mkdir(FOLDER, 0o700)
        found = os.lstat(FOLDER)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
