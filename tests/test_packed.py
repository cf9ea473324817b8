"""The packed vectors say what the rows say, whoever wrote the rows, and keep nothing of what has gone."""

from __future__ import annotations

import random
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.store import connection, packed, schema, shelf
from vecsearch.store.reader import Reader
from vecsearch.types import KINDS

DIM, MODEL = 8, "m@1"
ALL = frozenset(KINDS)


@pytest.fixture
def small(monkeypatch):
    """Blocks of 32 rows, so that few rows fill, empty and dissolve many."""
    monkeypatch.setattr(packed, "PLACES", 32)
    monkeypatch.setattr(packed, "STEP", 100)


@pytest.fixture
def store(tmp_path) -> sqlite3.Connection:
    """Tables of ours alone, with a state."""
    sqlite3.connect(tmp_path / "r.db").close()
    db = connection.open_writable(tmp_path / "r.db")
    db.execute("PRAGMA synchronous=OFF")
    with connection.transaction(db):
        schema.create(db)
        db.execute("INSERT INTO fx_vec_state VALUES(?,?,'')", (MODEL, DIM))
    yield db
    db.close()


def loaded(db: sqlite3.Connection, kinds: frozenset[str], *, from_rows: bool) -> tuple:
    """All that a search sees of the rows of the kinds, by either way."""
    names, query = Reader(db).tables, np.arange(1, DIM + 1, dtype=np.float32)
    found = shelf._from_rows(db, MODEL, DIM, True) if from_rows else shelf._packed(db, MODEL, DIM)
    assert from_rows or packed.stamp(db, MODEL, DIM, names)
    one = replace(shelf._of_kinds(found, kinds), _db=db)
    return (one.ids.tolist(), one.kinds.tolist(), one.artifacts.tolist(), one.starts.tolist(), one.matrix.tobytes(),
            one.similarity(query).tobytes(), one.vectors(np.arange(len(one.ids))[::-3]).tobytes())


def change(db: sqlite3.Connection, rng: random.Random) -> None:
    """What some program may do to the rows in one statement or a few."""
    ids = [i for (i,) in db.execute("SELECT id FROM fx_vec_chunk")]
    some = rng.sample(ids, min(len(ids), rng.choice((1, 5, 40)))) if ids else []
    vector = np.random.default_rng(rng.getrandbits(32)).standard_normal(DIM).astype("<f4").tobytes()
    what = rng.choice(("add", "add", "add", "remove", "vector", "replace", "move", "name", "forget", "model"))
    if what == "add":
        hash_, project = f"{rng.getrandbits(160):040x}", rng.choice(("", "", "peer"))
        for seq in range(rng.choice((1, 3, 30, 70))):
            i = db.execute("INSERT INTO fx_vec_chunk(hash, kind, path, seq, text, project) VALUES(?,?,'p',?,'t',?)",
                           (hash_, rng.choice(KINDS), seq, project)).lastrowid
            if rng.random() < 0.9:
                db.execute("INSERT OR REPLACE INTO fx_vec_embedding VALUES(?,?,?,?)",
                               (i, MODEL, DIM, vector[4 * (seq % 8) :] + vector[: 4 * (seq % 8)]))
    elif what == "name":
        db.execute("INSERT INTO fx_vec_source(hash, kind, format, title, fingerprint, branch, user, mtime, skipped, notes)"
                   " VALUES(?,?,'','','','','',0,'','')", (f"{rng.getrandbits(160):040x}", rng.choice(KINDS)))
    for i in some:
        if what == "remove":
            db.execute("DELETE FROM fx_vec_embedding WHERE chunk_id=?", (i,))
            db.execute("DELETE FROM fx_vec_chunk WHERE id=?", (i,))
        elif what == "vector":
            db.execute("UPDATE fx_vec_embedding SET v=? WHERE chunk_id=?", (vector, i))
        elif what == "replace":
            db.execute("INSERT OR REPLACE INTO fx_vec_chunk SELECT ?, hash, kind, path, seq, text, project FROM fx_vec_chunk WHERE id=?",
                       (1_000_000 + rng.getrandbits(20), i))
        elif what == "move":
            db.execute("UPDATE fx_vec_chunk SET kind=? WHERE id=?", (rng.choice((*KINDS, "other")), i))
        elif what == "forget":
            db.execute("DELETE FROM fx_vec_embedding WHERE chunk_id=?", (i,))
        elif what == "model":
            db.execute("INSERT OR REPLACE INTO fx_vec_embedding VALUES(?,'other@1',2,x'0000803f00000000')", (i,))


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_to_the_rows_the_blocks_and_what_was_touched_say_the_same(store, small, seed):
    """Bit by bit: order, artifacts, vectors, scores; by our own transactions and by others'."""
    rng = random.Random(seed)
    for _ in range(40):
        if rng.random() < 0.5:
            with connection.transaction(store):
                change(store, rng)
            assert not packed.is_behind(store)
        else:
            change(store, rng)
        kinds = rng.choice((ALL, frozenset({"doc", "code"})))
        assert loaded(store, kinds, from_rows=False) == loaded(store, kinds, from_rows=True)
    blocks, used = store.execute("SELECT count(*), sum(used) FROM fx_vec_block").fetchone()
    assert blocks > 3 and used <= 32 * blocks <= used / packed.SPARSE + 4 * 32  # holes do not pile up


def test_blocks_that_are_not_as_they_must_be_are_not_read_and_made_anew(store, small):
    with connection.transaction(store):
        for seed in range(8):
            change(store, random.Random(seed))
    for damage in ("UPDATE fx_vec_block SET facts=x'00' WHERE number=1", "UPDATE fx_vec_matrix SET v='text'", "DELETE FROM fx_vec_matrix",
                   "UPDATE fx_vec_block SET dim='many'", "DELETE FROM fx_vec_mark WHERE name='packed'", "DROP TRIGGER fx_vec_embedding_delete",
                   "UPDATE fx_vec_mark SET value='9.0 8 m@1 x' WHERE name='packed'"):
        store.execute(damage)
        assert not packed.stamp(store, MODEL, DIM, Reader(store).tables), damage
        with connection.transaction(store):
            schema.create(store)
        assert loaded(store, ALL, from_rows=False) == loaded(store, ALL, from_rows=True), damage


def answers(path: Path, text: str) -> list[tuple[str, int, float]]:
    with closing(open_readonly(path)) as db:
        return [(hit.hash, hit.seq, hit.score) for hit in search(db, _provider(db), parse(text, k=50), KINDS).hits]


def _provider(db: sqlite3.Connection):
    from vecsearch import embed

    return lambda: embed.get(Reader(db).settings())


def unpack(path: Path) -> None:
    """As an older version left it."""
    with closing(sqlite3.connect(path)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type='trigger' AND name LIKE 'fx_vec%'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        for table in ("fx_vec_block", "fx_vec_matrix", "fx_vec_touched"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM fx_vec_mark WHERE name='packed'")
        db.commit()


def in_step(path: Path) -> bool:
    with closing(open_readonly(path)) as db:
        return packed.in_step(db)


def test_an_index_without_blocks_answers_the_same_and_gets_them_with_the_next_run(indexed, vecsearch):
    with_blocks = answers(indexed, "restore a backup")
    assert in_step(indexed) and with_blocks
    unpack(indexed)
    indexed.chmod(0o444)
    assert answers(indexed, "restore a backup") == with_blocks
    indexed.chmod(0o644)
    assert "nothing to do" in vecsearch("index", "-R", indexed, check=True).stdout
    assert in_step(indexed) and answers(indexed, "restore a backup") == with_blocks


def test_what_another_program_writes_is_found_at_once_and_packed_by_the_next_run(indexed, vecsearch):
    """Through Fossil's own SQLite, which knows nothing of blocks."""
    best = answers(indexed, "restore a backup")[0]
    [[chunk]] = _rows(indexed, "SELECT id FROM fx_vec_chunk WHERE hash=? AND seq=?", *best[:2])
    sql = (f"INSERT INTO fx_vec_chunk SELECT 900001, 'abcd' || hash, kind, path, seq, text, project FROM fx_vec_chunk WHERE id={chunk};"
           f"INSERT INTO fx_vec_embedding SELECT 900001, model, dim, v FROM fx_vec_embedding WHERE chunk_id={chunk};"
           f"DELETE FROM fx_vec_embedding WHERE chunk_id={chunk};")
    subprocess.run(["fossil", "sql", "-R", str(indexed)], input=sql, text=True, check=True, capture_output=True)
    with closing(open_readonly(indexed)) as db:
        reader = Reader(db)
        state = reader.state()
        found = reader.shelf(state, ALL)
        _, rows = found.rows(np.array([900001, chunk]))
        scores = found.similarity(_provider(db)().embed_query("restore a backup"))
        assert round(float(scores[rows[0]]), 6) == best[2] and scores[rows[1]] == 0
    assert not in_step(indexed)
    vecsearch("index", "-R", indexed, check=True)
    assert in_step(indexed)


def test_tables_that_another_program_dropped_and_made_again_are_noticed(indexed):
    with closing(sqlite3.connect(indexed)) as db:
        db.executescript(f"""CREATE TEMP TABLE t AS SELECT * FROM fx_vec_embedding; DROP TABLE fx_vec_embedding;
            {schema.CONTRACT["fx_vec_embedding"]}; INSERT INTO fx_vec_embedding SELECT * FROM t WHERE chunk_id % 2;""")
        db.commit()
        state = Reader(db).state()
        assert not packed.stamp(db, state.model, state.dim, Reader(db).tables)
        found = Reader(db).shelf(state, ALL)
        even = (found.ids > 0) & (found.ids % 2 == 0)
        assert even.any() and not found.vectors(np.flatnonzero(even)).any()


def test_nothing_of_a_removed_vector_stays_in_the_file(tmp_path, store, small):
    """A vector tells of its text. Removed, replaced, moved by growth or by dissolving: its bytes go."""
    path = tmp_path / "r.db"
    planted: dict[int, bytes] = {}
    with connection.transaction(store):
        for i in range(1, 121):
            planted[i] = np.random.default_rng(i).standard_normal(DIM).astype("<f4").tobytes()
            store.execute("INSERT INTO fx_vec_chunk VALUES(?,?,'doc','p',0,'t','')", (i, f"{i:040x}"))
            store.execute("INSERT INTO fx_vec_embedding VALUES(?,?,?,?)", (i, MODEL, DIM, planted[i]))
    assert path.read_bytes().count(planted[50]) == 2  # a row and a block
    for gone in ([50], [51, 52], list(range(60, 90)), list(range(1, 40))):
        with connection.transaction(store):
            for i in gone:
                store.execute("DELETE FROM fx_vec_embedding WHERE chunk_id=?", (i,))
                store.execute("DELETE FROM fx_vec_chunk WHERE id=?", (i,))
        for i in gone:
            planted.pop(i)
        data = path.read_bytes()
        for i in range(1, 121):
            vector = np.random.default_rng(i).standard_normal(DIM).astype("<f4").tobytes()
            assert data.count(vector) == (2 if i in planted else 0), i


def _rows(path: Path, sql: str, *values: object) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql, values).fetchall()
