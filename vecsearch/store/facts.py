"""What a search needs of every row at once: its facts as one array and its vector, read from the rows."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..types import KINDS

#: One row. id: the chunk's, or minus the source's for a document that is only a name, 0: a free place. a, b:
#: the first 32 hex digits of the hash as two numbers, so that order by them is order by hash. project: 0
#: for this repository. kind: index into KINDS, 255 for another program's own.
FACTS = np.dtype([("id", "<i8"), ("a", "<u8"), ("b", "<u8"), ("project", "<u8"), ("seq", "<i8"), ("kind", "u1")])

_HEX = re.compile("[0-9a-f]{32}")
_CODE = {kind: i for i, kind in enumerate(KINDS)}
_BATCH = 1024
_CHUNKS = ("SELECT c.id, c.hash, coalesce(c.project, ''), c.seq, c.kind, e.v FROM fx_vec_chunk c{only}"
           " LEFT JOIN fx_vec_embedding e ON e.chunk_id=c.id AND e.model=? ORDER BY c.id")
_NAMES = ("SELECT -s.id, s.hash, s.project, 0, s.kind, NULL FROM fx_vec_source s{only}"
          " WHERE NOT EXISTS (SELECT 1 FROM fx_vec_chunk c WHERE c.hash=s.hash) ORDER BY s.id")

#: facts [n], float32 [n, dim], bool [n]: has a vector, ids whose vector is damaged.
Batch = tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]


def read(db: sqlite3.Connection, model: str, dim: int, *, names: bool, touched: int = 0) -> Iterator[Batch]:
    """The rows as they stand, a thousand at a time: every one, or only the first `touched` of those that
    fx_vec_touched names. `names`: fx_vec_source is there."""
    least, most = f"(SELECT chunk_id FROM fx_vec_touched ORDER BY chunk_id LIMIT {int(touched)})", " JOIN {} t ON t.chunk_id={}"
    rows = db.execute(_CHUNKS.format(only=most.format(least, "c.id") if touched else ""), (model,))
    yield from _batches(rows, dim)
    if names:
        yield from _batches(db.execute(_NAMES.format(only=most.format(least, "-s.id") if touched else "")), dim)


def _batches(rows: sqlite3.Cursor, dim: int) -> Iterator[Batch]:
    while some := rows.fetchmany(_BATCH):
        facts = np.array([_fact(*row[:5]) for row in some], FACTS)
        blobs = [_blob(row[5], dim) for row in some]
        vectors = np.frombuffer(b"".join(blob or bytes(4 * dim) for blob in blobs), "<f4").reshape(len(some), dim)
        finite = np.isfinite(vectors).all(axis=1)
        has = np.array([blob is not None for blob in blobs]) & finite
        damaged = [row[0] for row, good in zip(some, has) if row[5] is not None and not good]
        yield facts, vectors, has, damaged


def _blob(stored: Any, dim: int) -> bytes | None:
    return stored if isinstance(stored, bytes) and len(stored) == 4 * dim else None


def _fact(row_id: int, hash_: Any, project: Any, seq: Any, kind: Any) -> tuple:
    """The columns are another program's to fill, so nothing is taken for granted."""
    a, b = _key(hash_ if isinstance(hash_, str) else repr(hash_))
    return row_id, a, b, _number(project), seq if isinstance(seq, int) else 0, _CODE.get(kind, 255)


def _key(hash_: str) -> tuple[int, int]:
    digits = hash_ if _HEX.match(hash_) else _digest(hash_, 16)
    return int(digits[:16], 16), int(digits[16:32], 16)


def _number(project: Any) -> int:
    return 0 if project == "" else int(_digest(str(project), 8), 16) | 1


def _digest(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def in_order(facts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(places of the rows by hash, project, seq, which is the same in every clone; bool: begins an artifact).
    Names without text come last, free places not at all."""
    ids = np.ascontiguousarray(facts["id"])
    chunks, chunks_begin = _sorted(facts, np.flatnonzero(ids > 0))
    if not (names := np.flatnonzero(ids < 0)).size:
        return chunks, chunks_begin
    names, names_begin = _sorted(facts, names)
    return np.concatenate([chunks, names]), np.concatenate([chunks_begin, names_begin])


def _sorted(facts: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mostly the front of the hash settles it: one sort of numbers that hold it and the place."""
    if not len(rows):
        return rows, np.zeros(0, bool)
    fronts = np.ascontiguousarray(facts["a"])  # side by side they are slow
    all_of_them = len(rows) == len(facts)
    fronts = fronts if all_of_them else fronts[rows]
    bits = np.uint64(len(rows).bit_length())
    keys = fronts >> bits << bits
    keys |= np.arange(len(rows), dtype=np.uint64)
    keys.sort()
    keys &= (np.uint64(1) << bits) - np.uint64(1)
    order = keys.view(np.int64)
    front = fronts[order]
    tied = np.flatnonzero(front[1:] == front[:-1])
    one, other = facts[rows[order[tied]]], facts[rows[order[tied + 1]]]
    same, ascending = np.ones(len(tied), bool), np.ones(len(tied), bool)
    for name in ("seq", "project", "b"):
        first, second = one[name], other[name]
        ascending = (second > first) | ((second == first) & ascending)
        same &= (name == "seq") | (second == first)
    if not ascending.all() or (front[1:] < front[:-1]).any():
        rows = rows[np.lexsort([facts[name][rows] for name in ("seq", "project", "b", "a")])]
        return rows, _begins(facts[rows])
    begins = np.ones(len(rows), bool)
    begins[tied[same] + 1] = False
    return order if all_of_them else rows[order], begins


def _begins(facts: np.ndarray) -> np.ndarray:
    """bool [n]: of rows in order, the first of each artifact."""
    begins = np.ones(len(facts), bool)
    begins[1:] = False
    for name in ("a", "b", "project"):
        begins[1:] |= facts[name][1:] != facts[name][:-1]
    return begins
