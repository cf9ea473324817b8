"""One process of benchmarks/scan.py: it makes a file, scans one once, or scans whenever a line comes in."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

TOP = 10
THREADS = 0 if os.environ.get("SCAN_BY_THE_CLOCK") else 1
now = time.process_time if THREADS else time.perf_counter
MODEL = "bench@1"


def some(count: int, dim: int) -> Iterator[tuple[int, np.ndarray]]:
    """(first number, unit vectors float32), a few thousand at a time and always the same."""
    rng = np.random.default_rng(7)
    for start in range(0, count, 4096):
        rows = rng.standard_normal((min(4096, count - start), dim), dtype=np.float32)
        yield start, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def query(dim: int) -> np.ndarray:
    """The question: near to row 12."""
    [(_, rows)] = some(64, dim)
    return (rows[12] + rows[30]) / np.linalg.norm(rows[12] + rows[30])


def make(path: str, count: int, dim: int) -> None:
    """An index of ours: rows by one program, packed by a transaction of ours."""
    from vecsearch.store import connection, schema

    sqlite3.connect(path).close()
    db = connection.open_writable(path)
    db.execute("PRAGMA synchronous=OFF")
    with connection.transaction(db):
        schema.create(db)
    for start, rows in some(count, dim):
        db.execute("BEGIN")
        ids = range(start + 1, start + 1 + len(rows))
        db.executemany("INSERT INTO fx_vec_chunk VALUES(?,?,'code','p',0,'t','')", ((i, f"{i * 2654435761 % (1 << 32):08x}{i:056x}") for i in ids))
        db.executemany("INSERT INTO fx_vec_embedding VALUES(?,?,?,?)", ((i, MODEL, dim, row.tobytes()) for i, row in zip(ids, rows)))
        db.execute("COMMIT")
    with connection.transaction(db):
        db.execute("INSERT INTO fx_vec_state VALUES(?,?,'')", (MODEL, dim))
    db.close()


def make_peers(path: str, ours: str, dim: int) -> None:
    """The same vectors for sqlite-vec: vec0 by cosine, and a table of rows for its scalar function."""
    import sqlite_vec
    import usearch

    db = _with_vec(path)
    db.execute("PRAGMA synchronous=OFF")
    db.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{dim}] distance_metric=cosine)")
    db.execute("CREATE TABLE r(id INTEGER PRIMARY KEY, e BLOB)")
    with sqlite3.connect(ours) as source:
        for i, blob in source.execute("SELECT chunk_id, v FROM fx_vec_embedding"):
            db.execute("INSERT INTO v(rowid, e) VALUES(?,?)", (i, blob))
            db.execute("INSERT INTO r VALUES(?,?)", (i, blob))
    db.commit()
    print(json.dumps({"sqlite-vec": sqlite_vec.__version__, "usearch": usearch.__version__, "numpy": np.__version__}))


def _with_vec(path: str) -> sqlite3.Connection:
    import sqlite_vec

    db = sqlite3.connect(path)
    db.enable_load_extension(True)
    sqlite_vec.load(db)
    db.execute(f"PRAGMA mmap_size={1 << 30}")
    return db


def _best(scores: np.ndarray) -> np.ndarray:
    top = np.argpartition(-scores, TOP)[:TOP]
    return top[np.argsort(-scores[top], kind="stable")]


def _ours(path: str, dim: int, *, rows: bool = False) -> Callable[[], np.ndarray]:
    """As a search does it: the connection, which a process that stays keeps, one state of the file, the shelf, the
    product, the best ids."""
    from vecsearch.search.fuse import ranked
    from vecsearch.store import seen, shelf
    from vecsearch.store.connection import one_state
    from vecsearch.store.reader import Reader, State
    from vecsearch.types import KINDS

    wanted, open_ = query(dim), []
    if rows:
        shelf.packed.stamp = lambda *given: ""

    def scan() -> np.ndarray:
        if not open_:
            open_.append(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None))
            for pragma in ("query_only=ON", "mmap_size=0"):
                open_[0].execute(f"PRAGMA {pragma}")
        with one_state(open_[0]):
            _, facts = seen.of(open_[0])
            reader, state = Reader(open_[0], facts), State(MODEL, dim, "")
            begun = reader.ahead(state, lambda: wanted)
            found = reader.shelf(state, frozenset(KINDS))
            return found.ids[ranked(found.similarity(wanted, begun), TOP)]

    return scan


def _numpy(path: str, dim: int) -> Callable[[], np.ndarray]:
    with sqlite3.connect(path) as db:
        [count] = db.execute("SELECT count(*) FROM fx_vec_embedding").fetchone()
    matrix, wanted = _matrix(count, dim), query(dim)
    return lambda: _best(matrix @ wanted) + 1


def _matrix(count: int, dim: int) -> np.ndarray:
    matrix = np.empty((count, dim), np.float32)
    for start, rows in some(count, dim):
        matrix[start : start + len(rows)] = rows
    return matrix


def _usearch(path: str, dim: int) -> Callable[[], np.ndarray]:
    from usearch.index import MetricKind, search

    with sqlite3.connect(path) as db:
        [count] = db.execute("SELECT count(*) FROM fx_vec_embedding").fetchone()
    matrix, wanted = _matrix(count, dim), query(dim)
    return lambda: search(matrix, wanted, TOP, MetricKind.IP, exact=True, threads=THREADS).keys + 1


def _vec0(path: str, dim: int, *, memory: bool = False) -> Callable[[], np.ndarray]:
    db, blob = _with_vec(path), query(dim).astype("<f4").tobytes()
    if memory:
        copy = _with_vec(":memory:")
        db.backup(copy)
        db = copy
    return lambda: np.array([i for (i,) in db.execute("SELECT rowid FROM v WHERE e MATCH ? AND k=? ORDER BY distance", (blob, TOP))])


def _scalar(path: str, dim: int) -> Callable[[], np.ndarray]:
    db, blob = _with_vec(path), query(dim).astype("<f4").tobytes()
    return lambda: np.array([i for (i,) in db.execute("SELECT id FROM r ORDER BY vec_distance_cosine(e, ?) LIMIT ?", (blob, TOP))])


def once(start: Callable[[], Callable[[], np.ndarray]]) -> None:
    """Processor seconds from nothing open to the best ids; modules are loaded and the file is in the system's cache."""
    began = now()
    best = start()()
    print(now() - began)
    assert set(best[:2].tolist()) == {13, 31}, best


def whenever(start: Callable[[], Callable[[], np.ndarray]]) -> None:
    """Warm; then the processor seconds of a scan for each line, or what memory the vectors have taken."""
    before = _resident()
    scan = start()
    for _ in range(3):
        best = scan()
    assert set(best[:2].tolist()) == {13, 31}, best
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "memory":
            print(_resident() - before, flush=True)
            continue
        began = now()
        scan()
        print(now() - began, flush=True)


def _resident() -> int:
    """Bytes of its own, without the pages of files, which the system may drop."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon"))


def main(what: str, path: str, *values: str) -> None:
    if what == "make":
        return make(path, *map(int, values))
    if what == "make-peers":
        return make_peers(path, values[0], int(values[1]))
    dim = int(values[0])
    if what in ("file", "rows-file"):
        scan = _ours(path, dim, rows=what == "rows-file")  # modules, before the clock starts
        return once(lambda: scan)
    if what in ("vec0-file", "scalar-file"):
        import sqlite_vec  # noqa: F401

        return once(lambda: (_vec0 if what == "vec0-file" else _scalar)(path, dim))
    starts = {"memory": _ours, "numpy": _numpy, "usearch": _usearch, "vec0-memory": lambda path, dim: _vec0(path, dim, memory=True)}
    return whenever(lambda: starts[what](path, dim))


if __name__ == "__main__":
    main(*sys.argv[1:])
