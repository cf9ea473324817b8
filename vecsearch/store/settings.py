"""Storing a setting, which needs no index: an admin chooses the provider before the first run."""

from __future__ import annotations

import sqlite3

from . import schema


def store(db: sqlite3.Connection, name: str, text: str | None) -> None:
    """Keep a setting's text, or (None) return it to its default. The caller holds a transaction."""
    if "fx_vec_config" not in schema.table_names(db):
        db.execute(schema.DERIVED["fx_vec_config"])
    db.execute("DELETE FROM fx_vec_config WHERE name=?", (name,))
    if text is not None:
        db.execute("INSERT INTO fx_vec_config VALUES(?,?)", (name, text))
