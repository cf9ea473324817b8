"""One visit: the repository, read-only, and what this visitor may read.

A connection is kept for the next visit of the same file: opening one reads the whole schema. What it has
seen is checked by SQLite itself at each transaction; the rights are looked up for each visit.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from flask import current_app, request

from ..fossil import access, repository
from ..store import vocabulary

#: Seconds for which an unused connection stays open, and how many do.
SPARE_SECONDS, SPARE = 30.0, 16


@dataclass(frozen=True, slots=True)
class _Spare:
    path: str
    file: tuple[int, int]
    db: sqlite3.Connection
    since: float


_spare: list[_Spare] = []
_lock = threading.Lock()


@contextmanager
def visit() -> Iterator[tuple[sqlite3.Connection, frozenset[str]]]:
    """(connection, kinds): nothing but these kinds is looked at, counted or named."""
    path = current_app.config["REPOSITORY"]
    spare = _take(path) or _open(path)
    try:
        yield spare.db, access.visible_kinds(spare.db, request.environ)
    except BaseException:
        spare.db.close()
        raise
    _give(spare)


def close_idle() -> None:
    """Close what nobody has used for a while, so that a deleted repository does not hold its disk space."""
    now = time.monotonic()
    with _lock:
        old = [spare for spare in _spare if now - spare.since > SPARE_SECONDS]
        _spare[:] = [spare for spare in _spare if now - spare.since <= SPARE_SECONDS]
    for spare in old:
        spare.db.close()


def _open(path: str) -> _Spare:
    db = repository.open_readonly(Path(path))
    try:
        vocabulary.attach(db)
        db.execute("PRAGMA mmap_size=0")  # store/connection.py maps what is worth it
    except BaseException:
        db.close()
        raise
    return _Spare(path, _file(path), db, 0.0)


def _take(path: str) -> _Spare | None:
    """A connection to what the path names now and may be read by us now."""
    while True:
        with _lock:
            at = next((i for i in reversed(range(len(_spare))) if _spare[i].path == path), None)
            if at is None:
                return None
            found = _spare.pop(at)
        if found.file == _file(path) and os.access(path, os.R_OK):
            return found
        found.db.close()


def _give(spare: _Spare) -> None:
    if not spare.db.in_transaction:
        with _lock:
            if len(_spare) < SPARE:
                _spare.append(_Spare(spare.path, spare.file, spare.db, time.monotonic()))
                return
    spare.db.close()


def _file(path: str) -> tuple[int, int]:
    """Which file the path names; an open one keeps its number from being given to another."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
