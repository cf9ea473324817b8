"""The dot product of one vector with very many, by a second thread as well where that is worth its start.

BLAS itself runs with one thread (worker/shim.py, cli.py): sixteen visitors with two each would wait for each other. So there is one
helper in a process, for whoever comes first; all others do without. Where BLAS has threads of its own there is none: they would
fight with it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from urllib.parse import quote

import numpy as np

from .connection import mapped

#: Rows of a product are a multiple of this, so that BLAS sums each row in the same way wherever it stands.
EVEN = 32
#: Bytes, about, that one read brings: they stay in the processor's cache until they are multiplied.
AT_ONCE = 384 << 10
#: Rows of a matrix in memory that are multiplied at once: a third of what is left, but no less.
ROWS = 64 * EVEN
#: Bytes from which a helper is worth its start, a tenth of a millisecond: so many are read in two, or multiplied in a half.
WORTH_READING, WORTH_MULTIPLYING = 8 << 20, 8 << 20
#: The other has a read lock already, so whatever keeps a helper from one is soon over, or not worth waiting for.
BUSY_SECONDS = 0.01

_one_helper = threading.Lock()


class InMemory:
    """The product of matrix float32 [n, dim] and query float32 [dim]. A helper begins with it at once."""

    def __init__(self, matrix: np.ndarray, query: np.ndarray):
        self._matrix, self._query, self._found = matrix, query, np.empty(len(matrix), np.float32)
        self._left: deque[slice] = deque()
        first = 0
        while first < len(matrix):
            end = first + max((len(matrix) - first) // 3 // EVEN * EVEN, ROWS)
            self._left.append(slice(first, end))
            first = end
        self._helper = _helper_for(self._work, worth=matrix.nbytes >= WORTH_MULTIPLYING)

    def found(self) -> np.ndarray:
        """float32 [n]."""
        _together(self._helper, self._work)
        return self._found

    def _work(self) -> None:
        _empty(self._left, lambda piece: np.matmul(self._matrix[piece], self._query, out=self._found[piece]))


class InFile:
    """The product of query float32 [dim] and the blocks (number, places) of fx_vec_matrix, one behind the other, as `db` sees them in its
    transaction. A helper begins with it at once."""

    def __init__(self, db: sqlite3.Connection, blocks: Sequence[tuple[int, int]], query: np.ndarray):
        begins = np.cumsum([0, *(places for _, places in blocks)]).tolist()
        self._query, self._found = query, np.zeros(begins[-1], np.float32)
        self._left = deque((at, number, places) for at, (number, places) in zip(begins, blocks))
        self._helper = None
        if blocks and self._found.nbytes * len(query) >= WORTH_READING and sqlite3.threadsafety:
            [path] = [file for _, name, file in db.execute("PRAGMA database_list") if name == "main"]
            seen = _mark(db)
            self._helper = _helper_for(lambda: _help(path, seen, self._work), worth=bool(path and seen))

    def found(self, db: sqlite3.Connection) -> np.ndarray:
        """float32 [places]; `db` is in the same transaction. Raises sqlite3.Error."""
        with mapped(db):
            _together(self._helper, lambda: self._work(db))
        return self._found

    def _work(self, db: sqlite3.Connection) -> None:
        def multiply(block: tuple[int, int, int]) -> None:
            at, number, places = block
            for first, rows in read(db, number, places, len(self._query)):
                np.matmul(rows, self._query, out=self._found[at + first : at + first + len(rows)])

        _empty(self._left, multiply)


def read(db: sqlite3.Connection, number: int, places: int, dim: int) -> Iterator[tuple[int, np.ndarray]]:
    """(first place, rows float32 [some, dim]) of a block, a cache-full at a time."""
    step = max(AT_ONCE // (4 * dim * EVEN), 1) * EVEN
    with db.blobopen("fx_vec_matrix", "v", number, readonly=True) as blob:
        for first in range(0, places, step):
            rows = min(step, places - first)
            yield first, np.frombuffer(blob.read(4 * dim * rows), "<f4").reshape(rows, dim)


def _empty(left: deque, do: Callable) -> None:
    """Do what is left. What fails is left as it was."""
    while True:
        try:
            job = left.popleft()
        except IndexError:
            return
        try:
            do(job)
        except BaseException:  # whatever it was: what is not done must be seen by the other thread, or half a product would pass for one
            left.append(job)
            raise


def _helper_for(work: Callable[[], None], *, worth: bool) -> threading.Thread | None:
    """A thread that has begun with the work, if that is worth it and no other helper is at work."""
    if not worth or os.environ.get("OPENBLAS_NUM_THREADS") != "1" or not _one_helper.acquire(blocking=False):
        return None

    def run() -> None:
        try:
            work()
        finally:
            _one_helper.release()

    thread = threading.Thread(target=run, name="helper", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system allows no more threads
        _one_helper.release()
        return None
    return thread


def _together(helper: threading.Thread | None, work: Callable[[], None]) -> None:
    """Do the same work as the helper, and then what it has begun and could not end."""
    try:
        work()
    finally:
        if helper is not None:
            helper.join()
    work()


def _help(path: str, seen: str, work: Callable[[sqlite3.Connection], None]) -> None:
    """Work with a connection of one's own, if it sees the blocks as they were seen. What it cannot open or read is left to the
    other, which says what is wrong."""
    place = f"file:{quote(os.fsencode(path))}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(place, uri=True, isolation_level=None, timeout=BUSY_SECONDS)) as own:
        own.execute("BEGIN")
        if _mark(own) == seen:
            with mapped(own):
                work(own)


def _mark(db: sqlite3.Connection) -> str:
    """Another after each change of a block (packed.settle)."""
    row = db.execute("SELECT value FROM fx_vec_mark WHERE name='packed'").fetchone()
    return row[0] if row else ""
