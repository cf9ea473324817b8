"""Undoing what `vecsearch install` and `vecsearch hook install` did, and with --purge what index runs did."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from . import hooks, lock, resident
from .errors import UsageError, VecsearchError
from .install import is_ours, remove_from_menu, require_name, worker_of
from .store import connection, schema, unversioned


def uninstall(repository: Path, extroot: Path | None, name: str, *, purge: bool) -> str:
    """One line for each thing that went. Other hooks, menu entries and files stay as they are."""
    require_name(name)
    done = [_remove_launcher(extroot / name)] if extroot else []
    done += [remove_from_menu(repository, name), hooks.uninstall(repository)]
    if purge:
        with lock.exclusive(repository, "run", waiting=lambda: None):  # a run at work would write on
            done.append(_purge(repository))
    return "\n".join(line for line in done if line) or "there was nothing to undo"


def _remove_launcher(target: Path) -> str:
    if not target.exists():
        return ""
    if not is_ours(target):
        raise UsageError(f"{target} is not a launcher of vecsearch; it stays")
    worker = worker_of(target)
    try:
        target.unlink()
    except OSError as error:
        raise VecsearchError(f"cannot remove {target}: {error.strerror}; run this as the owner of {target.parent}") from error
    return f"removed {target}{' and stopped its worker' if worker and resident.stop(worker) else ''}"


def _purge(repository: Path) -> str:
    """Drop every table of ours and delete every file below vec/. A deleted unversioned file leaves a
    marker, as with `fossil uv rm`: without it the next sync would bring the file back."""
    db = connection.open_writable(repository)
    try:
        with connection.transaction(db):
            tables = len(schema.table_names(db))
            schema.drop(db, keep=())
            names = list(unversioned.files(db))
            for name in names:
                unversioned.remove(db, name)
    except sqlite3.Error as error:
        raise connection.explain(repository, error) from error
    finally:
        db.close()
    return f"dropped {tables} tables and deleted {len(names)} unversioned files; to shrink the file: fossil rebuild --vacuum"
