"""Opening the repository for writing, one transaction per unit of work, and one state for all that a search reads."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ..errors import RepositoryError

#: A live server commits in milliseconds; who blocks us longer than this is stuck or rebuilding.
BUSY_SECONDS = 15.0

#: How long to look for a moment without readers; a server that has none is waited for as usual.
QUIET_SECONDS = 3.0
RETRY_SECONDS = 0.02

#: Of a larger file the rest is read as any other file is.
MAPPED_BYTES = 1 << 40


def open_writable(path: Path) -> sqlite3.Connection:
    """A connection without implicit transactions that overwrites what it deletes.

    secure_delete: text that was removed because it is secret must not stay in free pages.
    """
    try:
        db = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        db.execute("PRAGMA secure_delete=ON")
        db.execute("PRAGMA temp_store=MEMORY")
    except sqlite3.Error as error:
        raise explain(path, error) from error
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Begin ... COMMIT; whatever is raised inside rolls all of it back. The packed vectors lose what was
    removed in the same transaction; of what is new they take so much as one may cost, and the rest in
    transactions of their own."""
    _begin(db)
    with _all_or_nothing(db):
        yield
        behind = _settle(db)
    while behind:
        try:
            _begin(db)
        except sqlite3.OperationalError:
            return  # somebody is at work here; searches read what is not packed from the rows
        with _all_or_nothing(db):
            behind = _settle(db)


@contextmanager
def _all_or_nothing(db: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _settle(db: sqlite3.Connection) -> bool:
    """Whether there was anything to pack."""
    from . import packed  # numpy: what only stores a setting does without

    if not packed.is_behind(db):
        return False
    packed.settle(db)
    return True


def _begin(db: sqlite3.Connection) -> None:
    """Take the write lock in a moment when nobody reads.

    `fossil commit` reads first and writes later, in one transaction. If it then meets our lock it fails
    at once with "database is locked": SQLite lets nobody wait who already reads. While the lock is
    exclusive, Fossil waits where it begins, which works.
    """
    db.execute("PRAGMA busy_timeout=0")  # a wait inside SQLite would keep the lock that Fossil may meet
    try:
        end = time.monotonic() + min(QUIET_SECONDS, BUSY_SECONDS)
        while time.monotonic() < end:
            try:
                db.execute("BEGIN EXCLUSIVE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
            time.sleep(RETRY_SECONDS)
    finally:
        db.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
    db.execute("BEGIN IMMEDIATE")


def overwrite_log(db: sqlite3.Connection) -> None:
    """After a transaction that removed a secret: in WAL mode what was overwritten still stands in the file or in
    the log beside it, for as long as another program has it open."""
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def one_state(db: sqlite3.Connection) -> Iterator[None]:
    """All that is read inside is of one moment, whatever an index run writes meanwhile."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


@contextmanager
def mapped(db: sqlite3.Connection) -> Iterator[None]:
    """Inside, the file is read through a memory map: much that stands side by side is read in two thirds of the time. What looks up a page
    here and there does better without: after each write by anybody SQLite drops the map, and each page faults anew."""
    [is_mapped] = db.execute("PRAGMA mmap_size").fetchone()
    if is_mapped:
        yield
        return
    db.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
    try:
        yield
    finally:
        db.execute("PRAGMA mmap_size=0")


def explain(path: Path | str, error: sqlite3.Error) -> RepositoryError:
    """SQLite's error as one line that says what to do."""
    text = str(error)
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB:
        return RepositoryError(f"{path}: the full-text index is damaged; run: vecsearch rebuild")
    advice = {
        "locked": "another process is using it; try again when it is done",
        "busy": "another process is using it; try again when it is done",
        "readonly": "it cannot be written; check the permissions of the file and of its folder",
        "unable to open": "it, or its folder, cannot be opened; check that it exists and who may read and write it",
        "full": "the disk is full; what was indexed before stays as it was",
        "malformed": "the file is damaged; run: fossil test-integrity",
        "not a database": "this is no Fossil repository",
    }
    for key, fix in advice.items():
        if key in text:
            return RepositoryError(f"{path}: {text}: {fix}")
    return RepositoryError(f"{path}: {text}")
