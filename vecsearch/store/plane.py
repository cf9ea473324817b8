"""Where each chunk stands on the map (layout.py). Derived: dropping the table loses a picture."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from . import schema
from .reader import StoredChunk


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk, without its text, on the map; `x` and `y` from 0 to 1."""

    x: float
    y: float
    chunk: StoredChunk


def put(db: sqlite3.Connection, ids: Sequence[int], places: np.ndarray) -> None:
    """The whole map anew; the caller holds a transaction."""
    db.execute(schema.OTHERS["fx_vec_map"].replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
    db.execute("DELETE FROM fx_vec_map")
    rows = [(int(i), round(float(x), 4), round(float(y), 4)) for i, (x, y) in zip(ids, places, strict=True)]
    db.executemany("INSERT INTO fx_vec_map VALUES(?,?,?)", rows)


def points(db: sqlite3.Connection, kinds: Iterable[str]) -> list[Point]:
    """Every chunk of the kinds that has a place, in the order that all clones share."""
    wanted = sorted(kinds)
    rows = db.execute(
        "SELECT m.x, m.y, c.id, c.hash, c.kind, c.path, c.seq, coalesce(c.project, ''), d.title, d.symbol, d.line_a, d.line_b,"
        " d.user, d.mtime, s.branch, s.format FROM fx_vec_map m JOIN fx_vec_chunk c ON c.id=m.chunk_id"
        " JOIN fx_vec_detail d ON d.chunk_id=c.id JOIN fx_vec_source s ON s.id=d.source_id"
        f" WHERE c.kind IN ({','.join('?' * len(wanted))}) ORDER BY c.hash, c.seq, c.project", wanted)
    return [Point(x, y, StoredChunk(i, hash_, kind, path, seq, "", project, title, symbol, (a, b) if a else None, user, mtime, branch, fmt))
            for x, y, i, hash_, kind, path, seq, project, title, symbol, a, b, user, mtime, branch, fmt in rows]
