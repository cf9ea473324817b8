"""Segments of the full-text index. A word is looked for in each of them, and its rows are read from each: of twenty that costs up
to five times as much as of one."""

from __future__ import annotations

import sqlite3

from . import schema

#: The share of the full-text index that may lie beside its largest segment: each page is written again about as often as once in so much growth.
SCATTERED = 1 / 8
#: Pages that one step writes: a tenth of a second or two, in which nobody else can.
PAGES = 500


def is_due(db: sqlite3.Connection) -> bool:
    """Whether the smaller segments hold more than their share."""
    if "fx_vec_fts" not in schema.table_names(db) or not schema.has_fts5(db):
        return False
    pages = [n for (n,) in db.execute("SELECT count(*) FROM fx_vec_fts_idx GROUP BY segid")]
    return sum(pages) - max(pages, default=0) > sum(pages) * SCATTERED


def step(db: sqlite3.Connection) -> bool:
    """One step towards a single segment, in the caller's transaction; whether there was anything to do. Raises sqlite3.DatabaseError
    where the index is damaged."""
    before = db.total_changes
    # Negative: all segments into one, as `optimize` does, but no more than so many pages of it (SQLite, "FTS5", section 6.8).
    db.execute("INSERT INTO fx_vec_fts(fx_vec_fts, rank) VALUES('merge', ?)", (-PAGES,))
    return db.total_changes - before > 1
