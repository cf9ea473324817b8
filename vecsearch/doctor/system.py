"""The machine: does the repository open, may it be written, is there room, are the programs new enough."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from .. import fossil_program, lock
from ..errors import UsageError, VecsearchError
from ..fossil.repository import open_readonly
from ..install import default_user, identity
from ..store import connection, schema
from .finding import Finding, Setup, broken, warning

#: A run grows the repository by about its index; below this it may not end.
LOW_BYTES = 200 << 20
#: UPSERT and table-valued pragmas are used; this is the SQLite of Debian 11.
OLDEST_SQLITE = (3, 34, 1)
#: A server's own writes are over by then.
LOCK_SECONDS = 2.0


def repository_opens(setup: Setup) -> Iterator[Finding]:
    try:
        open_readonly(setup.repository).close()
    except VecsearchError as error:
        yield broken("repository", error, "name the repository file with -R, and check that you may read it")


def writable(setup: Setup) -> Iterator[Finding]:
    """SQLite makes its journal beside the file, so the folder counts too. Hooks index as the server's user."""
    path, user = setup.repository.resolve(), setup.user or default_user(setup.repository)
    for place, what in ((path, "the repository"), (path.parent, "the repository's folder")):
        if not _may_write(place, os.W_OK | (os.X_OK if place == path.parent else 0)):
            yield broken("writable", f"{place}: {what} cannot be written by this user, so an index run fails",
                         f"run vecsearch as the owner of {path}, or: chown that user {place}")
        elif not _user_may_write(place, user):
            yield broken("writable", f"{place}: {what} cannot be written by user {user}, so pushes and the index runs of hooks fail",
                         f"chown {user} {place}")


def _user_may_write(place: Path, user: str | None) -> bool:
    """True where it cannot be tried; the served checks tell then."""
    try:
        who = identity(user)
    except UsageError:
        return True
    return not who or subprocess.run(["/bin/sh", "-c", '[ -w "$1" ]', "sh", str(place)], cwd="/", check=False, **who).returncode == 0


def _may_write(place: os.PathLike, mode: int) -> bool:
    """Of root, `access` says yes to all; a read-only file system says no to root too."""
    return os.access(place, mode, effective_ids=os.access in os.supports_effective_ids)


def locked(setup: Setup) -> Iterator[Finding]:
    """Only asks for the lock; nothing is written."""
    if not _may_write(setup.repository, os.W_OK):
        return
    try:
        with closing(connection.open_writable(setup.repository)) as db:
            db.execute(f"PRAGMA busy_timeout={int(LOCK_SECONDS * 1000)}")
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
    except (sqlite3.Error, VecsearchError) as error:
        if "locked" in str(error) or "busy" in str(error):
            yield warning("lock", f"{setup.repository}: another process has been writing for {LOCK_SECONDS:.0f} seconds",
                          f"find it with: fuser {setup.repository}; a rebuild or an index run ends by itself")


def locks(setup: Setup) -> Iterator[Finding]:
    if not lock.folder_is_ours():
        yield warning("lock", f"{lock.FOLDER} is not a folder of this user's, so two index runs may do the same work at once", f"remove {lock.FOLDER}")


def disk(setup: Setup) -> Iterator[Finding]:
    free = shutil.disk_usage(setup.repository.resolve().parent).free
    if free < LOW_BYTES:
        yield warning("disk", f"{free >> 20} MB are free beside the repository", f"make room: a run needs up to {LOW_BYTES >> 20} MB")


def versions(setup: Setup) -> Iterator[Finding]:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield broken("sqlite", f"Python's SQLite is {sqlite3.sqlite_version}", f"use a Python with SQLite {_dotted(OLDEST_SQLITE)} or newer")
    with closing(open_readonly(setup.repository)) as db:
        if not schema.has_fts5(db):
            yield warning("sqlite", "Python's SQLite has no FTS5, so searches do without keywords", "use a Python whose SQLite has FTS5")
    try:
        found = fossil_program.version()
    except VecsearchError as error:
        yield warning("fossil", error, "install Fossil anew; hook and menu commands need it")
        return
    if not found:
        yield warning("fossil", "the program fossil is not on the PATH", "install it, or add its folder to PATH, for hook and menu commands")
    elif found < fossil_program.OLDEST:
        yield warning("fossil", f"fossil {_dotted(found)} is older than any that was tried", f"use Fossil {_dotted(fossil_program.OLDEST)} or newer")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
