"""What a search needs of every row at once, as arrays: which chunk, what kind, of which artifact, its
vector. Loading is most of a cold search, so a long-lived process keeps the last few shelves."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import StoreError
from ..types import KINDS

#: Sets of kinds that visitors of one process differ by: readers, those who log in, a kind's filter.
KEPT = 4


@dataclass(frozen=True, slots=True)
class Shelf:
    """n rows ordered by artifact and place in it, which is the same in every clone.

    ids int64 [n]: the chunk's id, or minus the source's id for a document that is only a name;
    kinds uint8 [n]: index into KINDS; artifacts int32 [n]: 0, 1, ... in the order of the rows; starts
    int64 [artifacts + 1]: the first row of each, and the end;
    matrix float32 [n, dim]: unit vectors, zero where there is none.
    """

    ids: np.ndarray
    kinds: np.ndarray
    artifacts: np.ndarray
    matrix: np.ndarray
    starts: np.ndarray
    _by_id: np.ndarray = field(repr=False)
    #: What a search works out from the rows and keeps with them, by its own name; it goes when the shelf goes.
    derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, ids: Sequence[int], kinds: Sequence[int], artifacts: Sequence[int], matrix: np.ndarray) -> Shelf:
        """From plain columns."""
        numbers, groups = np.array(ids, np.int64), np.array(artifacts, np.int32)
        starts = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(groups))
        return cls(numbers, np.array(kinds, np.uint8), groups, matrix, starts, np.argsort(numbers, kind="stable"))

    def rows(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(places in `ids` that are on the shelf, their rows)."""
        if not len(self.ids):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        at = np.searchsorted(self.ids, ids, sorter=self._by_id).clip(max=len(self.ids) - 1)
        rows = self._by_id[at]
        here = np.flatnonzero(self.ids[rows] == ids)
        return here, rows[here]


_kept: OrderedDict[tuple, Shelf] = OrderedDict()
_lock = threading.Lock()


def load(db: sqlite3.Connection, model: str, dim: int, kinds: frozenset[str], tables: set[str]) -> Shelf:
    """The shelf of the kinds, kept from an earlier search if the file has not changed since. Raises
    StoreError on a vector of the wrong size."""
    key = (_stamp(db), model, kinds)
    if key[0]:
        with _lock:
            if key in _kept:
                _kept.move_to_end(key)
                return _kept[key]
    shelf = _read(db, model, dim, kinds, tables)
    if key[0]:
        with _lock:
            _kept[key] = shelf
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
    return shelf


def _stamp(db: sqlite3.Connection) -> tuple:
    """Changes with every write to the database; empty if that cannot be told."""
    path = next((file for _, name, file in db.execute("PRAGMA database_list") if name == "main"), "")
    if not path:
        return ()
    facts: list = [path]
    for name in (path, f"{path}-wal"):
        if os.path.exists(name):
            found = os.stat(name)
            facts += [found.st_ino, found.st_mtime_ns, found.st_size]
    return tuple(facts)


def _read(db: sqlite3.Connection, model: str, dim: int, kinds: frozenset[str], tables: set[str]) -> Shelf:
    names = sorted(kinds)
    marks = ",".join("?" * len(names))
    rows = db.execute(
        "SELECT c.id, c.kind, c.hash, coalesce(c.project, ''), e.v FROM fx_vec_chunk c"
        " LEFT JOIN fx_vec_embedding e ON e.chunk_id=c.id AND e.model=?"
        f" WHERE c.kind IN ({marks}) ORDER BY c.hash, c.seq", (model, *names)).fetchall()
    bad = next((row[0] for row in rows if row[4] is not None and len(row[4]) != 4 * dim), None)
    if bad is not None:
        raise StoreError(f"the vector of chunk {bad} is not of dimension {dim}; run: vecsearch rebuild")
    if "fx_vec_source" in tables:
        rows += db.execute(
            f"SELECT -id, kind, hash, project, NULL FROM fx_vec_source s WHERE kind IN ({marks}) AND NOT EXISTS"
            " (SELECT 1 FROM fx_vec_chunk c WHERE c.hash=s.hash) ORDER BY hash, project", names).fetchall()
    nothing = bytes(4 * dim)
    matrix = np.frombuffer(b"".join(row[4] or nothing for row in rows), "<f4").reshape(len(rows), dim)
    code = {kind: i for i, kind in enumerate(KINDS)}
    artifacts: list[int] = []
    last = None
    for row in rows:
        artifacts.append((artifacts[-1] + (row[2:4] != last)) if artifacts else 0)
        last = row[2:4]
    return Shelf.of([row[0] for row in rows], [code.get(row[1], 255) for row in rows], artifacts, matrix)
