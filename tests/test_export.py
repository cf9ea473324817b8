"""The index in DuckDB: seed 2's table, native vectors, and the same nearest chunks as ours."""

from __future__ import annotations

import math
import shutil
from contextlib import closing

import duckdb
import numpy as np
import pytest
from test_server import QUERIES

from vecsearch import embed
from vecsearch.embed.hashing import vector_from_json
from vecsearch.errors import StoreError
from vecsearch.export import export
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import Query
from vecsearch.search.similar import similar
from vecsearch.store.reader import Reader
from vecsearch.types import KINDS


@pytest.fixture(scope="module")
def exported(demo_indexed, tmp_path_factory):
    target = tmp_path_factory.mktemp("duck") / "index.duckdb"
    export(demo_indexed, target)
    return target


def test_the_nearest_ten_by_cosine_are_ours(demo_indexed, exported):
    db, duck = open_readonly(demo_indexed), duckdb.connect(str(exported), read_only=True)
    reader = Reader(db)
    state = reader.state()
    shelf, provider = reader.shelf(state, frozenset(KINDS)), embed.get(reader.settings())
    for query in QUERIES:
        vector = provider.embed_query(query)
        theirs = duck.execute(
            f"SELECT hash, seq, array_cosine_similarity(vector, ?::FLOAT[{state.dim}]) AS s FROM chunks ORDER BY s DESC, hash, seq LIMIT 10",
            [vector.tolist()]).fetchall()
        order = np.argsort(-(shelf.matrix @ vector), kind="stable")[:10]
        chunks = reader.chunks([int(i) for i in shelf.ids[order]])
        ours = [(chunks[int(i)].hash, chunks[int(i)].seq) for i in shelf.ids[order]]
        assert [row[:2] for row in theirs] == ours
        assert all(math.isclose(row[2], shelf.matrix[i] @ vector, abs_tol=1e-5) for row, i in zip(theirs, order, strict=True))
    duck.close()
    db.close()


def test_what_similar_finds_is_what_duckdb_finds(demo_indexed, exported):
    """The one surface of ours that ranks by cosine alone: the best passage of each other artifact."""
    duck = duckdb.connect(str(exported), read_only=True)
    with closing(open_readonly(demo_indexed)) as db:
        hash_ = db.execute("SELECT hash FROM fx_vec_chunk WHERE path='docs/restore.md'").fetchone()[0]
        ours = [(hit.hash, hit.score) for hit in similar(db, (hash_, 0), Query(k=10), frozenset(KINDS)).hits]
    theirs = duck.execute(
        """SELECT c.hash, max(array_cosine_similarity(c.vector, q.vector)) AS s FROM chunks c, chunks q
           WHERE q.hash=$h AND q.seq=0 AND c.hash<>$h GROUP BY 1 ORDER BY s DESC LIMIT 10""", {"h": hash_}).fetchall()
    duck.close()
    assert len(ours) == 10 and [hash_ for hash_, _ in ours] == [hash_ for hash_, _ in theirs]
    assert all(math.isclose(mine, other, abs_tol=1e-5) for (_, mine), (_, other) in zip(ours, theirs, strict=True))


def test_every_column_is_copied_and_vectors_to_the_last_bit(demo_indexed, exported):
    duck = duckdb.connect(str(exported), read_only=True)
    theirs = {(row[0], row[1]): row[2:] for row in duck.execute("SELECT hash, seq, kind, path, title, line_a, line_b, text, model, vector FROM chunks").fetchall()}
    duck.close()
    with closing(open_readonly(demo_indexed)) as db:
        rows = db.execute("SELECT c.hash, c.seq, c.kind, c.path, d.title, d.line_a, d.line_b, c.text, e.model, e.v FROM fx_vec_chunk c"
                          " JOIN fx_vec_detail d ON d.chunk_id=c.id JOIN fx_vec_embedding e ON e.chunk_id=c.id").fetchall()
    assert len(rows) == len(theirs)
    for hash_, seq, *facts, blob in rows:
        *copied, vector = theirs[hash_, seq]
        assert [value or None for value in copied] == [value or None for value in facts] and np.array(vector, "<f4").tobytes() == blob


def test_seed_2s_table_holds_each_vector_as_json_with_one_provider_name(demo_indexed, exported):
    duck = duckdb.connect(str(exported), read_only=True)
    assert duck.execute("SELECT column_name FROM information_schema.columns WHERE table_name='embeddings' ORDER BY ordinal_position").fetchall() \
        == [("contract_id",), ("provider_id",), ("vector_json",), ("source_text",)]
    db = open_readonly(demo_indexed)
    state = Reader(db).state()
    count = db.execute("SELECT count(*) FROM fx_vec_embedding").fetchone()[0]
    assert duck.execute("SELECT count(*), count(DISTINCT contract_id), min(provider_id), max(provider_id) FROM embeddings").fetchone() \
        == (count, count, state.model, state.model)
    rows = duck.execute("SELECT json_array_length(vector_json), count(*) FROM embeddings GROUP BY 1").fetchall()
    assert rows == [(state.dim, count)]
    db.close()
    duck.close()


def test_a_hash_index_goes_through_the_seeds_own_codec(indexed, tmp_path, vecsearch):
    vecsearch("config", "provider", "hash", "-R", indexed, check=True)
    vecsearch("rebuild", "-R", indexed, check=True)
    vecsearch("export", "--duckdb", tmp_path / "x.duckdb", "-R", indexed, check=True)
    duck = duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True)
    own = {f"{hash_}/{seq}": vector for hash_, seq, vector in duck.execute("SELECT hash, seq, vector FROM chunks").fetchall()}
    for owner, text in duck.execute("SELECT contract_id, vector_json FROM embeddings").fetchall():
        assert np.array_equal(vector_from_json(text), np.array(own[owner], np.float32))
    duck.close()


def test_an_export_is_made_anew_and_leaves_other_tables(demo_indexed, tmp_path):
    target = tmp_path / "x.duckdb"
    duck = duckdb.connect(str(target))
    duck.execute("CREATE TABLE mine(a INT)")
    duck.close()
    export(demo_indexed, target)
    export(demo_indexed, target)
    duck = duckdb.connect(str(target), read_only=True)
    assert sorted(duck.execute("SELECT table_name FROM information_schema.tables").fetchall()) == [
        ("chunks",), ("contracts",), ("edges",), ("embeddings",), ("mine",)]
    duck.close()


def test_a_file_that_is_no_duckdb_database_is_not_touched(demo_indexed, tmp_path):
    target = shutil.copy(demo_indexed, tmp_path / "other.fossil")
    before = target.read_bytes()
    with pytest.raises(StoreError, match="name a DuckDB database or a new file"):
        export(demo_indexed, target)
    assert target.read_bytes() == before


def test_without_an_index_nothing_is_made(demo, tmp_path, vecsearch):
    done = vecsearch("export", "--duckdb", tmp_path / "x.duckdb", "-R", demo)
    assert done.returncode == 1 and "run: vecsearch index" in done.stderr and not (tmp_path / "x.duckdb").exists()
