"""The vectors once more, in blocks: what a cold search reads is then contiguous.

    fx_vec_block   per block of up to 1,024 places the facts (facts.py) of each
    fx_vec_matrix  per block float32 [places, dim]; none for a block of rows that have no vector
    fx_vec_touched the rows that the blocks are behind on, noted by triggers (triggers.py)

Blocks and touched rows together are always what the rows say. Appends go to the last block; what is
removed has its vector overwritten with zeros in the transaction that removes it; a block that is mostly
holes is dissolved. `settle` runs at the end of each transaction of ours (connection.py).
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..types import KINDS
from . import check, facts, schema, triggers
from .facts import FACTS

#: Places of a full block; a smaller one doubles. All are multiples of 32, so that BLAS sums each row the
#: same way wherever it stands: scores are equal to the last bit.
PLACES, LEAST = 1024, 32
#: Rows that one transaction packs: a megabyte to a few, so that nobody waits long.
STEP = 8 * PLACES
#: A block with less than this share in use is dissolved.
SPARSE = 0.5
#: Raised when the layout of the blobs changes. The kinds are part of it: facts hold their numbers.
_VERSION = f"1.{zlib.crc32(','.join(KINDS).encode()):08x}"
#: A block whose blobs are not as long as they must be; lengths are read without what they measure.
_UNSOUND = """SELECT 1 FROM fx_vec_block b LEFT JOIN fx_vec_matrix m ON m.number=b.number WHERE b.dim NOT IN (0, :dim)
 OR typeof(b.facts)<>'blob' OR length(b.facts)=0 OR length(b.facts) % :size<>0 OR typeof(b.used)<>'integer' OR typeof(b.low)<>'integer'
 OR typeof(b.high)<>'integer' OR CASE b.dim WHEN 0 THEN m.v IS NOT NULL
 ELSE typeof(m.v)<>'blob' OR length(m.v)<>4 * :dim * (length(b.facts) / :size) END LIMIT 1"""
_TABLES = {"fx_vec_block", "fx_vec_matrix", triggers.TABLE, "fx_vec_mark", "fx_vec_source", "fx_vec_detail", "fx_vec_state", "fx_vec_chunk",
           "fx_vec_embedding"}


@dataclass(frozen=True, slots=True)
class Block:
    """One block without its vectors: facts [places]; `dim` 0: it has none."""

    number: int
    dim: int
    facts: np.ndarray


def stamp(db: sqlite3.Connection, model: str, dim: int, tables: set[str]) -> str:
    """A word that changes with every change of the packed rows, as the transaction sees them; empty where the
    blocks are absent, of another model or layout, or where somebody could have written unnoticed."""
    if not tables >= _TABLES or not triggers.intact(db):
        return ""
    row = db.execute("SELECT value FROM fx_vec_mark WHERE name='packed'").fetchone()
    if not row or not isinstance(row[0], str) or not row[0].startswith(_prefix(model, dim)):
        return ""
    unsound = db.execute(_UNSOUND, {"dim": dim, "size": FACTS.itemsize}).fetchone()
    return "" if unsound else row[0]


def _prefix(model: str, dim: int) -> str:
    return f"{_VERSION} {dim} {model} "


def blocks(db: sqlite3.Connection) -> list[Block]:
    """Every block by number, of tables that have a stamp."""
    rows = db.execute("SELECT number, dim, facts FROM fx_vec_block ORDER BY number")
    return [Block(number, dim, np.frombuffer(blob, FACTS)) for number, dim, blob in rows]


def matrices(db: sqlite3.Connection) -> list[tuple[int, int]]:
    """(number, places) of every block that has vectors, by number, of tables that have a stamp."""
    return db.execute("SELECT number, length(facts) / ? FROM fx_vec_block WHERE dim<>0 ORDER BY number", (FACTS.itemsize,)).fetchall()


def in_step(db: sqlite3.Connection) -> bool:
    """Whether the blocks are there and hold all that the rows do."""
    return _tables(db) >= _TABLES and not is_behind(db)


def is_behind(db: sqlite3.Connection) -> bool:
    """Whether `settle` has anything to do. Costs a look at two tables."""
    tables = _tables(db)
    state = _state(db) if tables >= _TABLES else None
    if state is None:
        return False
    return not stamp(db, *state, tables) or db.execute("SELECT 1 FROM fx_vec_touched LIMIT 1").fetchone() is not None


def _tables(db: sqlite3.Connection) -> set[str]:
    """Those that are as they must be."""
    return schema.table_names(db) - check.faults(db).keys()


def _state(db: sqlite3.Connection) -> tuple[str, int] | None:
    """(model, dim) that are searched; None before the first run has ended."""
    row = db.execute("SELECT model, dim FROM fx_vec_state").fetchone()
    return row if row and isinstance(row[0], str) and isinstance(row[1], int) and 0 < row[1] <= 1 << 16 else None


def settle(db: sqlite3.Connection) -> None:
    """Bring the blocks nearer to the rows, inside the caller's transaction: whatever was removed or changed
    leaves them now, and so many rows are packed as one transaction may cost."""
    tables = _tables(db)
    state = _state(db)
    assert state is not None  # is_behind
    model, dim = state
    if not stamp(db, model, dim, tables):
        _begin_anew(db)
    else:
        _vacate(db)
    _dissolve_sparse(db)
    _pack(db, model, dim)
    db.execute("INSERT OR REPLACE INTO fx_vec_mark VALUES('packed', ?)", (_prefix(model, dim) + os.urandom(8).hex(),))


def overtaken(db: sqlite3.Connection) -> list[int]:
    """Chunks that were changed or removed since they were packed; at the begin of a transaction of ours:
    by another program."""
    tables = _tables(db)
    state = _state(db) if tables >= _TABLES else None
    if state is None or not stamp(db, *state, tables):
        return []
    touched = np.array([i for (i,) in db.execute("SELECT chunk_id FROM fx_vec_touched WHERE chunk_id>0")], np.int64)
    packed = [block.facts["id"] for block in blocks(db)] if len(touched) else []
    return np.intersect1d(touched, np.concatenate(packed)).tolist() if packed else []


def doubt(db: sqlite3.Connection) -> None:
    """The caller holds a transaction at whose end all blocks are made anew."""
    db.execute("DELETE FROM fx_vec_mark WHERE name='packed'")


def _begin_anew(db: sqlite3.Connection) -> None:
    for table in ("fx_vec_block", "fx_vec_matrix", "fx_vec_touched"):
        db.execute(f"DELETE FROM {table}")
    db.execute("INSERT INTO fx_vec_touched SELECT id FROM fx_vec_chunk UNION SELECT -id FROM fx_vec_source")


def _vacate(db: sqlite3.Connection) -> None:
    """Free the places of touched rows and overwrite their vectors. Ids grow with time, so a block whose
    range holds none of them need not be read."""
    for number, dim, low, high in db.execute("SELECT number, dim, low, high FROM fx_vec_block").fetchall():
        wanted = [i for (i,) in db.execute("SELECT chunk_id FROM fx_vec_touched WHERE chunk_id BETWEEN ? AND ?", (low, high))]
        if not wanted:
            continue
        held = _facts(db, number)
        gone = np.flatnonzero(np.isin(held["id"], wanted) & (held["id"] != 0))
        if not len(gone):
            continue
        held[gone] = np.zeros((), FACTS)
        if dim:
            _write(db, number, dim, gone, np.zeros((len(gone), dim), "<f4"))
        _put_facts(db, number, held)


def _facts(db: sqlite3.Connection, number: int) -> np.ndarray:
    [blob] = db.execute("SELECT facts FROM fx_vec_block WHERE number=?", (number,)).fetchone()
    return np.frombuffer(bytearray(blob), FACTS)


def _put_facts(db: sqlite3.Connection, number: int, held: np.ndarray) -> None:
    ids = held["id"][held["id"] != 0]
    if not len(ids):
        db.execute("DELETE FROM fx_vec_block WHERE number=?", (number,))
        db.execute("DELETE FROM fx_vec_matrix WHERE number=?", (number,))
        return
    db.execute("UPDATE fx_vec_block SET used=?, low=?, high=?, facts=? WHERE number=?",
               (len(ids), int(ids.min()), int(ids.max()), held.tobytes(), number))


def _write(db: sqlite3.Connection, number: int, dim: int, places: np.ndarray, vectors: np.ndarray) -> None:
    """Overwrite vectors where they stand: only the pages that hold them are written."""
    with db.blobopen("fx_vec_matrix", "v", number) as blob:
        for first, end in _runs(places):
            blob.seek(4 * dim * int(places[first]))
            blob.write(vectors[first:end].astype("<f4").tobytes())


def _runs(places: np.ndarray) -> Iterable[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(places) != 1) + 1
    return zip([0, *edges.tolist()], [*edges.tolist(), len(places)])


def _dissolve_sparse(db: sqlite3.Connection) -> None:
    """The rows of a block that is mostly holes are packed again; the last of each sort is still filling."""
    last = {number for (number,) in db.execute("SELECT max(number) FROM fx_vec_block GROUP BY dim")}
    for (number,) in db.execute("SELECT number FROM fx_vec_block WHERE used < ?", (SPARSE * PLACES,)).fetchall():
        if number not in last:
            held = _facts(db, number)
            db.executemany("INSERT OR IGNORE INTO fx_vec_touched VALUES(?)", [(int(i),) for i in held["id"] if i])
            db.execute("DELETE FROM fx_vec_block WHERE number=?", (number,))
            db.execute("DELETE FROM fx_vec_matrix WHERE number=?", (number,))


def _pack(db: sqlite3.Connection, model: str, dim: int) -> None:
    """Append the first STEP rows that were touched. A damaged vector is forgotten, so that the run embeds its
    artifact again."""
    damaged: list[int] = []
    for found, vectors, has, bad in facts.read(db, model, dim, names=True, touched=STEP):
        damaged += bad
        _append(db, dim, found[has], vectors[has])
        _append(db, 0, found[~has], None)
    db.execute("DELETE FROM fx_vec_touched WHERE chunk_id IN (SELECT chunk_id FROM fx_vec_touched ORDER BY chunk_id LIMIT ?)", (STEP,))
    for chunk_id in damaged:
        _forget(db, chunk_id, model)


def _append(db: sqlite3.Connection, dim: int, found: np.ndarray, vectors: np.ndarray | None) -> None:
    while len(found):
        number, held, free = _room(db, dim, len(found))
        fits = min(len(held) - free, len(found))
        held[free : free + fits] = found[:fits]
        if vectors is not None:
            _write(db, number, dim, np.arange(free, free + fits), vectors[:fits])
            vectors = vectors[fits:]
        _put_facts(db, number, held)
        found = found[fits:]


def _room(db: sqlite3.Connection, dim: int, wanted: int) -> tuple[int, np.ndarray, int]:
    """(number, facts, first free place) of a block whose end is free: the last, grown if need be, or a new one."""
    [number] = db.execute("SELECT max(number) FROM fx_vec_block WHERE dim=?", (dim,)).fetchone()
    held = _facts(db, number) if number else np.zeros(0, FACTS)
    free = int(np.flatnonzero(held["id"])[-1]) + 1 if len(held) else 0
    if number is None or free == PLACES:
        number = (db.execute("SELECT max(number) FROM fx_vec_block").fetchone()[0] or 0) + 1
        held, free = np.zeros(0, FACTS), 0
        db.execute("INSERT INTO fx_vec_block VALUES(?,?,0,0,0,x'')", (number, dim))
        if dim:
            db.execute("INSERT INTO fx_vec_matrix VALUES(?, x'')", (number,))
    places = max(len(held), LEAST)
    while places < min(PLACES, free + wanted):
        places *= 2
    if more := places - len(held):
        held = np.concatenate([held, np.zeros(more, FACTS)])
        if dim:
            [v] = db.execute("SELECT v FROM fx_vec_matrix WHERE number=?", (number,)).fetchone()
            db.execute("UPDATE fx_vec_matrix SET v=? WHERE number=?", (v + bytes(4 * dim * more), number))
    return number, held, free


def _forget(db: sqlite3.Connection, chunk_id: int, model: str) -> None:
    db.execute("DELETE FROM fx_vec_embedding WHERE chunk_id=? AND model=?", (chunk_id, model))
    db.execute("UPDATE fx_vec_source SET fingerprint='' WHERE id=(SELECT source_id FROM fx_vec_detail WHERE chunk_id=?)", (chunk_id,))
    db.execute("UPDATE fx_vec_mark SET value='' WHERE name IN ('run', 'moment')")  # a run looks at everything again
