"""What a process that only watches asks the store, without the weight of the reader (numpy)."""

from __future__ import annotations

import sqlite3

from . import schema


def mark(db: sqlite3.Connection, name: str) -> str:
    """A bookkeeping value, '' if it was never set."""
    if "fx_vec_mark" not in schema.table_names(db):
        return ""
    row = db.execute("SELECT value FROM fx_vec_mark WHERE name=?", (name,)).fetchone()
    return row[0] if row else ""


def setting_rows(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(name, text) of each setting that is not at its default."""
    if "fx_vec_config" not in schema.table_names(db):
        return []
    return db.execute("SELECT name, value FROM fx_vec_config ORDER BY name").fetchall()
