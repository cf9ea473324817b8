"""What was read of one state of a repository's file, and need not be read again while it is the same.

A process that stays reads the same few rows for each question: which tables there are and whether they are ours,
which model, which marks. The stamp of the file is taken while a read lock is held, so what is read under it is of
that state; whoever writes makes another stamp (shelf.file_stamp).
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from typing import Any

from .shelf import file_stamp

#: States of files: a process serves a few repositories.
KEPT = 16

_kept: OrderedDict[tuple, dict[str, Any]] = OrderedDict()
_lock = threading.Lock()


def of(db: sqlite3.Connection) -> tuple[tuple, dict[str, Any] | None]:
    """(stamp of the file, what was read of that state by name). Empty and None where nothing may be kept: outside of a
    transaction, on a connection that could have written, under a write-ahead log."""
    if not db.in_transaction or not db.execute("PRAGMA query_only").fetchone()[0]:
        return (), None
    db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()  # from here on nobody can write
    stamp = file_stamp(db)
    if not stamp:
        return (), None
    with _lock:
        found = _kept.setdefault(stamp, {})
        _kept.move_to_end(stamp)
        if len(_kept) > KEPT:
            _kept.popitem(last=False)
    return stamp, found
