"""Which rows of the full-text index match an FTS5 expression. A positive row id is a chunk, a negative one the source -id, found by its
path alone. Kinds are not looked at: the caller narrows by its shelf."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain

import numpy as np


def match(db: sqlite3.Connection, expression: str, weightings: Sequence[Sequence[float]], most: int) -> tuple[np.ndarray, np.ndarray]:
    """(row ids int64 [n], bm25 float64 [weightings, n] with its sign turned: more is better), of `most` rows at most. A weighting is a
    weight for each column."""
    scores = "".join(f", -bm25(fx_vec_fts{',?' * len(weights)})" for weights in weightings)
    rows = db.execute(f"SELECT rowid{scores} FROM fx_vec_fts WHERE fx_vec_fts MATCH ? LIMIT ?",
                      (*chain.from_iterable(weightings), expression, most)).fetchall()
    found = np.array(rows, np.float64).reshape(len(rows), 1 + len(weightings)).T
    return found[0].astype(np.int64), found[1:]


def holding(db: sqlite3.Connection, expression: str) -> np.ndarray:
    """Row ids int64; much cheaper than their bm25."""
    # As one text: a row of its own for each costs five times as much.
    [ids] = db.execute("SELECT group_concat(rowid) FROM fx_vec_fts WHERE fx_vec_fts MATCH ?", (expression,)).fetchone()
    return np.fromstring(ids or "", np.int64, sep=",")


def rows(db: sqlite3.Connection) -> int:
    """How many the index has."""
    return db.execute("SELECT count(*) FROM fx_vec_fts_docsize").fetchone()[0]
