"""The words of the full-text index. They are of all kinds: never show one unasked."""

from __future__ import annotations

import sqlite3

_ATTACH = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fx_vec_words USING fts5vocab('main', 'fx_vec_fts', 'row')"


def attach(db: sqlite3.Connection) -> None:
    """Make them a table of this connection, to be called outside of a transaction: what is made inside goes with it, and
    every statement that was prepared before is prepared anew. Without FTS5 there are none."""
    if db.execute("SELECT 1 FROM sqlite_temp_schema WHERE name='fx_vec_words'").fetchone():
        return
    [query_only] = db.execute("PRAGMA query_only").fetchone()
    db.execute("PRAGMA query_only=OFF")  # for a temporary table; the file itself is open for reading only
    try:
        db.execute(_ATTACH)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):
            raise
    finally:
        db.execute(f"PRAGMA query_only={query_only}")


def beginning(db: sqlite3.Connection, letters: str, most: int) -> dict[str, int]:
    """word -> rows that hold it, for the first words that begin so."""
    return dict(db.execute("SELECT term, doc FROM temp.fx_vec_words WHERE term >= ? AND term < ? LIMIT ?", (letters, letters + "\U0010ffff", most)))
