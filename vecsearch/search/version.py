"""What of a repository the words and artifacts of an index depend on, told in three milliseconds."""

from __future__ import annotations

import sqlite3

from ..fossil.repository import change_mark
from ..store.reader import Reader


def of(db: sqlite3.Connection, reader: Reader) -> tuple:
    """(mark of all that Fossil could show, marks of the index, state of the full-text index): differs whenever one of them does.

    FTS5 writes its averages (row 1 of its data) and its list of segments (row 10) with every change
    (SQLite, "FTS5", section on shadow tables)."""
    marks = db.execute("SELECT name, value FROM fx_vec_mark ORDER BY name").fetchall() if "fx_vec_mark" in reader.tables else []
    lexical = db.execute("SELECT block FROM fx_vec_fts_data WHERE id IN (1, 10) ORDER BY id").fetchall() if reader.has_lexical() else []
    return change_mark(db), marks, lexical
