"""All vectors of one state of the index: read block by block for one question, kept for several."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import StoreError
from . import product
from .connection import mapped
from .product import EVEN, InFile, InMemory


class Vectors:
    """Places 0..: first those of the blocks, then rows that were added; `nowhere` (-1) is a row of zeros.

    The matrix stays in the file until a second search asks for the same state: a process that answers one
    request never holds it, one that stays does."""

    nowhere = -1

    def __init__(self, dim: int):
        self.dim, self.count, self.blocks = dim, 0, []
        self._added: list[np.ndarray] = []
        self._matrix: np.ndarray | None = None
        self._keep, self._lock = False, threading.Lock()

    @classmethod
    def in_blocks(cls, dim: int, blocks: Sequence[tuple[int, int]]) -> Vectors:
        """Of fx_vec_matrix: (number, places) of each block."""
        made = cls(dim)
        made.blocks, made.count = list(blocks), sum(places for _, places in blocks)
        return made

    def add(self, rows: np.ndarray) -> np.ndarray:
        """Put further rows behind; returns their places. Before the first question only."""
        even = np.zeros((-(-len(rows) // EVEN) * EVEN, self.dim), np.float32)
        even[: len(rows)] = rows
        self._added.append(even)
        self.count += len(even)
        return np.arange(self.count - len(even), self.count - len(even) + len(rows))

    def asked_again(self) -> None:
        """From now on the matrix is worth its memory."""
        self._keep = True

    def begin(self, query: np.ndarray) -> InMemory | None:
        """Multiply from now on, if that needs no connection."""
        return None if self._matrix is None else InMemory(self._matrix, query.astype(np.float32))

    def products(self, db: sqlite3.Connection, query: np.ndarray, begun: InMemory | InFile | None = None) -> np.ndarray:
        """float32 [count + 1]: the dot product of each place with the query, 0 at the end for `nowhere`. `begun`: of the same
        vectors and the same query, in the same transaction."""
        found, single, added = np.zeros(self.count + 1, np.float32), query.astype(np.float32), list(self._added)
        if self._keep or self._matrix is not None:
            made = begun if isinstance(begun, InMemory) else InMemory(self.matrix(db), single)
            found[:-1] = made.found()
        else:
            packed = (begun if isinstance(begun, InFile) else InFile(db, self.blocks, single)).found(db)
            at = len(packed)
            found[:at] = packed
            for rows in added:
                np.matmul(rows, single, out=found[at : at + len(rows)])
                at += len(rows)
        if not np.isfinite(found.sum()):  # one bad number spoils the sum
            raise StoreError("a packed vector is damaged; run: vecsearch rebuild")
        return found

    def at(self, db: sqlite3.Connection, places: np.ndarray) -> np.ndarray:
        """float32 [len(places), dim]."""
        found = np.zeros((len(places), self.dim), np.float32)
        here = np.flatnonzero(places != self.nowhere)
        if self._matrix is not None:
            found[here] = self._matrix[places[here]]
            return found
        here = here[np.argsort(places[here], kind="stable")]
        wanted = places[here]
        for at, rows in self._runs(db, wanted):
            first, end = np.searchsorted(wanted, [at, at + len(rows)])
            found[here[first:end]] = rows[wanted[first:end] - at]
        return found

    def matrix(self, db: sqlite3.Connection) -> np.ndarray:
        """float32 [count, dim], kept from now on."""
        with self._lock:
            if self._matrix is None:
                made = np.empty((self.count, self.dim), np.float32)
                with mapped(db):
                    for at, rows in self._runs(db):
                        made[at : at + len(rows)] = rows
                self._matrix, self._added = made, []
            return self._matrix

    def _runs(self, db: sqlite3.Connection, wanted: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """(first place, rows) of everything, a cache-full at a time; of `wanted` (ascending) only what holds any."""
        added, at = list(self._added), 0
        for number, places in self.blocks:
            if _any(wanted, at, places):
                yield from ((at + first, rows) for first, rows in product.read(db, number, places, self.dim))
            at += places
        for rows in added:
            if _any(wanted, at, len(rows)):
                yield at, rows
            at += len(rows)


def _any(wanted: np.ndarray | None, at: int, places: int) -> bool:
    return wanted is None or np.searchsorted(wanted, at) < np.searchsorted(wanted, at + places)
