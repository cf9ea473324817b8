"""Two threads give the same sums to the last bit, and what goes wrong in the second one is done by the first."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest

from vecsearch.store import connection, packed, product, schema
from vecsearch.store.product import InFile, InMemory

DIM, ROWS, MODEL = 96, 5_000, "m@1"


def in_helper() -> bool:
    return threading.current_thread().name == "helper"


class Jobs(list):
    """The jobs that a helper has begun. Neither thread ends its first job before the other has begun one, if there are two."""

    def __init__(self):
        self.both, self.begun = True, {True: threading.Event(), False: threading.Event()}

    def watched(self, do):
        def job_of(job):
            if in_helper():
                self.append(job)
            self.begun[in_helper()].set()
            if self.both:
                self.begun[not in_helper()].wait(5)
            do(job)

        return job_of


@pytest.fixture
def helped(monkeypatch):
    """A helper for the smallest product."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setattr(product, "WORTH_READING", 0)
    monkeypatch.setattr(product, "WORTH_MULTIPLYING", 0)
    jobs, empty = Jobs(), product._empty
    monkeypatch.setattr(product, "_empty", lambda left, do: empty(left, jobs.watched(do)))
    return jobs


@pytest.fixture(scope="module")
def vectors():
    return np.random.default_rng(3).standard_normal((ROWS, DIM)).astype("<f4")


@pytest.fixture(scope="module")
def file(tmp_path_factory, vectors):
    path = tmp_path_factory.mktemp("product") / "a b#?%41.db"
    sqlite3.connect(path).close()
    with closing(connection.open_writable(path)) as db:
        with connection.transaction(db):
            schema.create(db)
        db.execute("BEGIN")
        db.executemany("INSERT INTO fx_vec_chunk VALUES(?,?,'doc','p',0,'t','')", ((i, f"{i:064x}") for i in range(1, ROWS + 1)))
        db.executemany("INSERT INTO fx_vec_embedding VALUES(?,?,?,?)", ((i, MODEL, DIM, row.tobytes()) for i, row in enumerate(vectors, 1)))
        db.execute("COMMIT")
        with connection.transaction(db):
            db.execute("INSERT INTO fx_vec_state VALUES(?,?,'')", (MODEL, DIM))
    return path


def from_file(path) -> np.ndarray:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN")
        return InFile(db, packed.matrices(db), np.ones(DIM, np.float32)).found(db)[:ROWS]


@pytest.fixture(scope="module")
def alone(file, vectors):
    """The sums by one thread, which are those that numpy has."""
    found = from_file(file)
    np.testing.assert_allclose(found, vectors.astype(float).sum(axis=1), atol=1e-4)
    return found


def test_a_file_is_read_by_two(file, alone, helped):
    assert np.array_equal(from_file(file), alone) and helped


def test_a_matrix_is_multiplied_by_two(vectors, alone, helped):
    found = InMemory(vectors, np.ones(DIM, np.float32)).found()
    assert np.array_equal(found, alone) and helped


def test_where_blas_has_threads_of_its_own_there_is_no_helper(vectors, alone, helped, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    helped.both = False
    found = InMemory(vectors, np.ones(DIM, np.float32)).found()
    assert np.array_equal(found, alone) and not helped


def test_what_the_helper_cannot_read_the_other_reads(file, alone, helped, monkeypatch):
    read = product.read

    def broken(*given):
        for number, some in enumerate(read(*given)):
            if in_helper() and number == 1:
                raise sqlite3.OperationalError("disk I/O error")
            yield some

    monkeypatch.setattr(product, "read", broken)
    monkeypatch.setattr(product, "AT_ONCE", 32 * 4 * DIM)
    assert np.array_equal(from_file(file), alone) and len(helped) == 1


@pytest.mark.parametrize("change", ["UPDATE fx_vec_mark SET value='another' WHERE name='packed'", None], ids=["another state", "locked"])
def test_a_helper_that_does_not_see_the_same_does_nothing(file, alone, helped, monkeypatch, change, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(copy, isolation_level=None)) as other:
        if change:
            other.execute(change)
        else:
            other.execute("BEGIN EXCLUSIVE")
            monkeypatch.setattr(product, "BUSY_SECONDS", 0.05)
        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", lambda name, **how: connect(f"file:{copy}?mode=ro" if in_helper() else name, **how))
        helped.both = False
        assert np.array_equal(from_file(file), alone) and not helped


def test_a_fault_of_the_first_is_raised_once_the_helper_has_ended(file, helped, monkeypatch):
    read = product.read

    def broken(*given):
        if not in_helper():
            raise sqlite3.DatabaseError("malformed")
        yield from read(*given)

    monkeypatch.setattr(product, "read", broken)
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        from_file(file)
    assert not [thread for thread in threading.enumerate() if thread.name == "helper"] and product._one_helper.acquire(blocking=False)
    product._one_helper.release()
