"""What a search needs of every row at once, as arrays: which chunk, what kind, of which artifact, its
vector. It comes from the packed blocks where they are in step with the rows, and else from the rows."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import StoreError
from ..types import KINDS
from . import facts, packed
from .connection import mapped
from .facts import FACTS
from .product import InFile, InMemory
from .vectors import Vectors

#: Sets of kinds that visitors of one process differ by: readers, those who log in, a kind's filter.
KEPT = 4
#: Ids of rows may be so many times as far apart as there are rows.
SPREAD = 16


class _RowOf:
    """id -> row, -1 where there is none: a table, as long as ids are not spread too thinly for one."""

    def __init__(self, ids: np.ndarray):
        self.low, span = (int(ids.min()), int(ids.max()) - int(ids.min()) + 1) if len(ids) else (0, 0)
        self.ids = ids if span > SPREAD * len(ids) else None
        if self.ids is not None:
            self.by_id = np.argsort(ids, kind="stable")
            return
        self.table = np.full(span + 1, -1, np.int64)  # one more, for all ids that are out of range
        self.table[ids - self.low] = np.arange(len(ids))

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        if self.ids is None:
            at = ids - self.low
            return self.table[np.where((at >= 0) & (at < len(self.table)), at, -1)]
        rows = self.by_id[np.searchsorted(self.ids, ids, sorter=self.by_id).clip(max=len(self.ids) - 1)]
        return np.where(self.ids[rows] == ids, rows, -1)


@dataclass(frozen=True)
class Shelf:
    """n rows ordered by artifact and place in it, which is the same in every clone. Vectors are read through the
    connection that it was asked for by, inside the same transaction.

    ids int64 [n]: the chunk's id, or minus the source's id for a document that is only a name;
    kinds uint8 [n]: index into KINDS; artifacts int32 [n]: 0, 1, ... in the order of the rows; starts
    int64 [artifacts + 1]: the first row of each, and the end.
    """

    ids: np.ndarray
    kinds: np.ndarray
    artifacts: np.ndarray
    starts: np.ndarray
    _vectors: Vectors = field(repr=False)
    _places: np.ndarray = field(repr=False)
    _row_of: _RowOf = field(repr=False)
    #: What a search works out from the rows and keeps with them, by its own name. It goes when a row of
    #: fx_vec_chunk, fx_vec_embedding or fx_vec_source changes; other tables are not watched.
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _db: sqlite3.Connection | None = field(default=None, repr=False, compare=False)

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        return self._vectors.dim

    def rows(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(places in `ids` that are on the shelf, their rows)."""
        rows = self._row_of(ids)
        here = np.flatnonzero(rows >= 0)
        return here, rows[here]

    def begin(self, query: np.ndarray) -> InMemory | None:
        """Multiply from now on, where the vectors are in memory."""
        return self._vectors.begin(query)

    def similarity(self, query: np.ndarray, begun: InMemory | InFile | None = None) -> np.ndarray:
        """float32 [n]: the exact dot product of float32 [dim] with every row, 0 for one without a vector. The sums are the same to the last
        bit however the vectors are stored. `begun`: what `begin`, or before there was a shelf `ahead`, gave for this query."""
        return self._vectors.products(self._db, query, begun)[self._places]

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """float32 [len(rows), dim]; zero where there is none."""
        return self._vectors.at(self._db, self._places[rows])

    @property
    def totals(self) -> np.ndarray:
        """int [256]: rows by kind."""
        if "totals" not in self.derived:
            self.derived["totals"] = np.bincount(self.kinds, minlength=256)
        return self.derived["totals"]

    @cached_property
    def matrix(self) -> np.ndarray:
        """float32 [n, dim], all of them: a copy, so only for what looks at every pair or every question."""
        return self._vectors.at(self._db, self._places)


@dataclass(frozen=True, slots=True)
class _All:
    """The rows of all kinds in order, shared by the shelves of one state: ids, kinds, artifacts as in Shelf,
    and the place of each in Vectors."""

    ids: np.ndarray
    kinds: np.ndarray
    artifacts: np.ndarray
    places: np.ndarray
    vectors: Vectors


_kept: OrderedDict[tuple, tuple[_All, dict[frozenset[str], Shelf]]] = OrderedDict()
#: Whoever holds the lock of a key reads what belongs to it.
_turns: dict[tuple, threading.Lock] = {}
_lock = threading.Lock()


def version(db: sqlite3.Connection, model: str, dim: int, tables: set[str]) -> tuple[str, tuple]:
    """(stamp of the blocks, what differs whenever anything that a shelf holds does); empty where that cannot be told."""
    stamp = packed.stamp(db, model, dim, tables)
    return stamp, _key(db, stamp, model, dim)


def load(db: sqlite3.Connection, model: str, dim: int, kinds: frozenset[str], tables: set[str], version: tuple[str, tuple]) -> Shelf:
    """The shelf of the kinds, kept from an earlier search if nothing that it holds has changed. Of several who want the
    same at once one reads, and the others wait. Raises StoreError on a damaged vector."""
    stamp, key = version
    if not key:
        return replace(_of_kinds(_read_all(db, stamp, model, dim, tables), kinds), _db=db)
    if shelf := _find(key, kinds):
        return replace(shelf, _db=db)
    with _lock:
        turn = _turns.setdefault(key, threading.Lock())
    with turn:
        shelf = _find(key, kinds) or _fill(db, stamp, key, model, dim, kinds, tables)
    with _lock:
        _turns.pop(key, None)
    return replace(shelf, _db=db)


def ahead(db: sqlite3.Connection, query: Callable[[], np.ndarray], version: tuple[str, tuple]) -> InFile | None:
    """Begin the product of a vector with all that stands in blocks, before the shelf is loaded: what else a search has to read can be
    read meanwhile. None, and no vector is asked for, where there are no blocks or an earlier search has left a shelf."""
    stamp, key = version
    with _lock:
        kept = key in _kept
    return None if kept or not stamp else InFile(db, packed.matrices(db), query().astype(np.float32))


def _find(key: tuple, kinds: frozenset[str]) -> Shelf | None:
    with _lock:
        if key not in _kept:
            return None
        _kept.move_to_end(key)
        everything, shelves = _kept[key]
        everything.vectors.asked_again()
        return shelves.get(kinds)


def _fill(db: sqlite3.Connection, stamp: str, key: tuple, model: str, dim: int, kinds: frozenset[str], tables: set[str]) -> Shelf:
    with _lock:
        everything, shelves = _kept.get(key, (None, {}))
    everything = everything or _read_all(db, stamp, model, dim, tables)
    shelf = _of_kinds(everything, kinds)
    with _lock:
        if len(shelves) >= KEPT:
            shelves.pop(next(iter(shelves)))
        shelves[kinds] = shelf
        _kept[key] = everything, shelves
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return shelf


def _read_all(db: sqlite3.Connection, stamp: str, model: str, dim: int, tables: set[str]) -> _All:
    with mapped(db):
        return _packed(db, model, dim) if stamp else _from_rows(db, model, dim, "fx_vec_source" in tables)


def _key(db: sqlite3.Connection, stamp: str, model: str, dim: int) -> tuple:
    """The stamp of the blocks is of the reader's own transaction, and other writes to the repository do not change it."""
    if stamp and db.execute("SELECT 1 FROM fx_vec_touched LIMIT 1").fetchone() is None:
        return (stamp,)
    file = file_stamp(db)
    return (stamp, model, dim, *file) if file else ()


def file_stamp(db: sqlite3.Connection) -> tuple:
    """Changes with every write to the database; empty if that cannot be told."""
    path = next((file for _, name, file in db.execute("PRAGMA database_list") if name == "main"), "")
    if not path or os.path.exists(f"{path}-wal"):
        return ()
    found = os.stat(path)
    return path, found.st_ino, found.st_mtime_ns, found.st_size, _change_counter(path, found)


#: Descriptors of repositories, which are never closed: to close one drops every lock that any thread of the process
#: has on the file (SQLite, "How To Corrupt", section 2.2).
_descriptors: dict[tuple[int, int], int] = {}


def _change_counter(path: str, found: os.stat_result) -> bytes:
    """The bytes of SQLite's header that differ after each write."""
    with _lock:
        file = (found.st_dev, found.st_ino)
        if file not in _descriptors:
            _descriptors[file] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(_descriptors[file], 4, 24)


def _packed(db: sqlite3.Connection, model: str, dim: int) -> _All:
    """From the blocks, and from the rows that these are behind on."""
    blocks = packed.blocks(db)
    held = np.frombuffer(bytearray().join(block.facts for block in blocks), FACTS)  # field by field, concatenate takes three times as long
    vectors = Vectors.in_blocks(dim, [(block.number, len(block.facts)) for block in blocks if block.dim])
    places, first, at = np.full(len(held), vectors.nowhere), 0, 0
    for block in blocks:
        if block.dim:
            places[at : at + len(block.facts)] = np.arange(first, first + len(block.facts))
            first += len(block.facts)
        at += len(block.facts)
    touched = np.array([i for (i,) in db.execute("SELECT chunk_id FROM fx_vec_touched")], np.int64)
    if len(touched):
        held["id"][np.isin(held["id"], touched)] = 0
        late, late_places = _read(db, model, dim, vectors, names=True, touched=len(touched))
        held, places = np.concatenate([held, late]), np.concatenate([places, late_places])
    return _ordered(held, places, vectors)


def _from_rows(db: sqlite3.Connection, model: str, dim: int, names: bool) -> _All:
    vectors = Vectors(dim)
    return _ordered(*_read(db, model, dim, vectors, names=names), vectors)


def _read(db: sqlite3.Connection, model: str, dim: int, vectors: Vectors, *, names: bool, touched: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(facts, places) of rows as they stand; their vectors are added to `vectors`."""
    parts, places = [np.zeros(0, FACTS)], [np.zeros(0, np.int64)]
    for found, some, has, damaged in facts.read(db, model, dim, names=names, touched=touched):
        if damaged:
            raise StoreError(f"the vector of chunk {damaged[0]} is not of dimension {dim}, or not of finite numbers; run: vecsearch index, "
                             "or vecsearch rebuild")
        parts.append(found)
        places.append(np.full(len(found), vectors.nowhere))
        places[-1][has] = vectors.add(some[has])
    return np.concatenate(parts), np.concatenate(places)


def _ordered(found: np.ndarray, places: np.ndarray, vectors: Vectors) -> _All:
    order, begins = facts.in_order(found)
    return _All(found["id"][order], found["kind"][order], np.cumsum(begins, dtype=np.int32) - np.int32(1), places[order], vectors)


def _of_kinds(everything: _All, kinds: frozenset[str]) -> Shelf:
    wanted = np.zeros(256, bool)
    wanted[[i for i, kind in enumerate(KINDS) if kind in kinds]] = True
    chosen = wanted[everything.kinds]
    rows = slice(None) if chosen.all() else np.flatnonzero(chosen)
    ids, artifacts = everything.ids[rows], everything.artifacts[rows]
    begins = np.append(True, artifacts[1:] != artifacts[:-1])[: len(ids)]
    if not chosen.all():
        artifacts = np.cumsum(begins, dtype=np.int32) - np.int32(1)
    return Shelf(ids, everything.kinds[rows], artifacts, np.append(np.flatnonzero(begins), len(ids)), everything.vectors, everything.places[rows],
                 _RowOf(ids))
