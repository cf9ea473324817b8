"""What of a repository the words and artifacts of an index depend on, told in less than a millisecond where nothing of it has changed."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import Any

from ..fossil.repository import change_hint, change_mark
from ..store.reader import Reader


@dataclass(frozen=True, slots=True)
class Version:
    """The mark of all that Fossil could show, the marks of the index, and the state of the full-text index: differs whenever one
    of them does."""

    change: str = ""
    marks: tuple[Any, ...] = ()
    lexical: tuple[Any, ...] = ()
    hint: str = field(default="", compare=False)


def of(db: sqlite3.Connection, reader: Reader, file: tuple, last: Version | None = None) -> Version:
    """The version; `file` tells which file it is, empty where that cannot be told; `last` is an earlier version that may be of the same.

    A run of the index that has left another mark is looked at anew. FTS5 writes its averages (row 1 of its data) and its list of
    segments (row 10) with every change (SQLite, "FTS5", section on shadow tables)."""
    hint = f"{file} {change_hint(db)}" if file else ""
    if last is not None and hint and last.hint == hint and last.change == reader.mark("change"):
        change = last.change
    else:
        change = change_mark(db)
    marks = db.execute("SELECT name, value FROM fx_vec_mark ORDER BY name").fetchall() if "fx_vec_mark" in reader.tables else []
    lexical = db.execute("SELECT block FROM fx_vec_fts_data WHERE id IN (1, 10) ORDER BY id").fetchall() if reader.has_lexical() else []
    return Version(change, tuple(marks), tuple(lexical), hint)
