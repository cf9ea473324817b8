"""Rows that belong together: what no run of ours parts, but another program or a damaged disk may."""

from __future__ import annotations

import sqlite3

from . import schema

#: (what, query that counts them)
_STRAYS = [
    ("chunks without a vector of the index's model", "SELECT count(*) FROM fx_vec_chunk c LEFT JOIN fx_vec_embedding e"
     " ON e.chunk_id=c.id AND e.model=(SELECT model FROM fx_vec_state) WHERE e.chunk_id IS NULL"),
    ("vectors without a chunk", "SELECT count(*) FROM fx_vec_embedding WHERE chunk_id NOT IN (SELECT id FROM fx_vec_chunk)"),
    ("chunks without details", "SELECT count(*) FROM fx_vec_chunk WHERE id NOT IN (SELECT chunk_id FROM fx_vec_detail)"),
    ("details without a chunk", "SELECT count(*) FROM fx_vec_detail WHERE chunk_id NOT IN (SELECT id FROM fx_vec_chunk)"),
    ("details without an artifact", "SELECT count(*) FROM fx_vec_detail WHERE source_id NOT IN (SELECT id FROM fx_vec_source)"),
]
#: Every chunk has a full-text row, and so has every artifact without chunks, under minus its id, unless it
#: is of no format: no text, and of no name that says text.
_UNINDEXED = """SELECT count(*) FROM (SELECT id FROM fx_vec_chunk UNION ALL SELECT -id FROM fx_vec_source
  WHERE format<>'' AND id NOT IN (SELECT source_id FROM fx_vec_detail)) WHERE id NOT IN (SELECT id FROM fx_vec_fts_docsize)"""
_OF_NOTHING = """SELECT count(*) FROM fx_vec_fts_docsize WHERE id NOT IN (SELECT id FROM fx_vec_chunk UNION ALL
  SELECT -id FROM fx_vec_source)"""


def strays(db: sqlite3.Connection) -> list[str]:
    """What is without its counterpart, each with its number. All tables of ours must be there."""
    counted = [(what, db.execute(query).fetchone()[0]) for what, query in _STRAYS]
    return [f"{count} {what}" for what, count in counted if count]


def lexical_fault(db: sqlite3.Connection) -> str:
    """What is wrong with the full-text index, "" if nothing. Raises sqlite3.DatabaseError where it cannot be read."""
    db.execute("SELECT rowid FROM fx_vec_fts WHERE fx_vec_fts MATCH 'a' LIMIT 1").fetchall()
    lacks, extra = db.execute(_UNINDEXED).fetchone()[0], db.execute(_OF_NOTHING).fetchone()[0]
    return f"{lacks} full-text rows are missing and {extra} belong to nothing" if lacks or extra else ""


def are_sound(db: sqlite3.Connection) -> bool:
    """Whether a rebuild can go on from the rows of an index of ours."""
    present = schema.table_names(db)
    if not {"fx_vec_chunk", "fx_vec_embedding", "fx_vec_state", "fx_vec_detail", "fx_vec_source"} <= present:
        return False
    try:
        return not strays(db) and not ("fx_vec_fts" in present and schema.has_fts5(db) and lexical_fault(db))
    except sqlite3.DatabaseError:
        return False
