"""Tables that are not as they must be: one line that says what to do, on every surface, and what it says works."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from benchmarks import fuzz_store

from vecsearch.store import schema
from vecsearch.web import create_app


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A repository of a few artifacts by the hash provider, indexed; not to be changed."""
    from forge import Forge

    forge = Forge(tmp_path_factory.mktemp("damage"))
    forge.commit({"a.md": "# Backup\n\nHow to restore a backup.\n", "b.py": "def restore():\n    return 1\n", "c.png": b"\x89PNG\0\0",
                  "CLAUDE.md": "# [DEF:x:Module]\n@PURPOSE: restore\n"}, message="restore things")
    forge.wiki("Page", "# Restore\n\nwiki text")
    fuzz_store.call(forge.path, "config", "provider", "hash")
    fuzz_store.call(forge.path, "index")
    return forge.path


@pytest.fixture
def copy(small, tmp_path) -> Path:
    path = tmp_path / "r.fossil"
    path.write_bytes(small.read_bytes())
    return path


def execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(sql)


def rows(path: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


DERIVED = sorted(schema.DERIVED.keys() | schema.OTHERS.keys())


@pytest.mark.parametrize("table", DERIVED)
@pytest.mark.parametrize("instead", ["CREATE VIEW {0} AS SELECT 1 AS x", "CREATE TABLE {0}(x)"], ids=["view", "columns"])
def test_a_derived_table_that_is_not_ours_is_named_and_a_rebuild_makes_it_anew(copy, table, instead):
    execute(copy, f"DROP TABLE {table}; {instead.format(table)}")
    for command in (("search", "restore"), ("search", "--json", "restore"), ("status",), ("index",)):
        done = fuzz_store.call(copy, *command)
        assert done.exit_code == 1 and done.stderr.splitlines() == [done.stderr.strip()], (command, done.stderr)
        assert f"{copy}: " in done.stderr and table in done.stderr and "; run: vecsearch rebuild" in done.stderr
    assert fuzz_store.call(copy, "doctor").exit_code == 1
    if table == "fx_vec_config":  # settings are lost with it
        assert fuzz_store.call(copy, "rebuild").exit_code == 0
        return
    assert fuzz_store.call(copy, "rebuild").exit_code == 0
    assert fuzz_store.call(copy, "doctor").output == "" and "a.md" in fuzz_store.call(copy, "search", "restore").output


def test_the_page_and_json_say_it_without_the_servers_paths(copy):
    execute(copy, "DROP TABLE fx_vec_detail; CREATE TABLE fx_vec_detail(x); UPDATE user SET cap='o' WHERE login='nobody'")
    client = create_app(str(copy)).test_client()
    page, data = client.get("/?q=restore"), client.get("/?q=restore&format=json")
    assert page.status_code == data.status_code == 500
    assert "able fx_vec_detail lacks chunk_id" in page.text and "run: vecsearch rebuild" in page.text
    assert json.loads(data.text)["error"]["code"] == "index" and "run: vecsearch rebuild" in json.loads(data.text)["error"]["message"]
    assert str(copy.parent) not in page.text + data.text and "Traceback" not in page.text + data.text


@pytest.mark.parametrize("ours", [True, False])
def test_a_table_of_the_contract_is_dropped_only_if_we_made_it(copy, ours):
    execute(copy, "DROP TABLE fx_vec_state; CREATE TABLE fx_vec_state(model TEXT, secret TEXT); INSERT INTO fx_vec_state VALUES('m', 'theirs')"
            + ("" if ours else "; DROP TABLE fx_vec_mark"))
    done = fuzz_store.call(copy, "search", "restore")
    assert done.exit_code == 1 and "table fx_vec_state lacks dim, last_ckout" in done.stderr
    assert ("vecsearch rebuild" in done.stderr) == ours and ("vecsearch uninstall --purge" in done.stderr) != ours
    assert fuzz_store.call(copy, "rebuild").exit_code == (0 if ours else 1)
    if not ours:
        assert rows(copy, "SELECT secret FROM fx_vec_state") == [("theirs",)]


LINKED = ["fx_vec_chunk", "fx_vec_embedding", "fx_vec_state", "fx_vec_source", "fx_vec_detail"]


@pytest.mark.parametrize("tables", [*([name] for name in LINKED), LINKED[:2], LINKED[:3], LINKED[3:]], ids=" ".join)
def test_a_table_that_others_need_is_named_when_it_is_gone_and_a_rebuild_mends_all(copy, tables):
    answered = fuzz_store.call(copy, "search", "restore").output
    execute(copy, "".join(f"DROP TABLE {name};" for name in tables))
    for command in (("search", "restore"), ("search", "--json", "restore"), ("status",), ("index",)):
        done = fuzz_store.call(copy, *command)
        assert done.exit_code == 1 and done.stderr.count("\n") == 1, (command, done.stderr)
        assert "is missing; run: vecsearch rebuild" in done.stderr and any(name in done.stderr for name in tables)
    assert fuzz_store.call(copy, "rebuild").exit_code == 0
    assert fuzz_store.call(copy, "doctor").output == "" and fuzz_store.call(copy, "search", "restore").output == answered


@pytest.mark.parametrize("table", sorted({*schema.DERIVED, "fx_vec_fts"} - {*LINKED, "fx_vec_config", "fx_vec_peer", "fx_vec_library"}))
def test_a_table_that_a_run_fills_is_filled_again_by_the_next(copy, table):
    told = "SELECT count(*) FROM fx_vec_fts WHERE fx_vec_fts MATCH 'restore'" if table == "fx_vec_fts" else f"SELECT count(*) FROM {table}"
    answered, before = fuzz_store.call(copy, "search", "restore").output, rows(copy, told)
    execute(copy, f"DROP TABLE {table}")
    assert fuzz_store.call(copy, "index").exit_code == 0
    assert rows(copy, told) == before and fuzz_store.call(copy, "search", "restore").output == answered
    assert fuzz_store.call(copy, "doctor").output == ""
    now = copy.read_bytes()
    assert fuzz_store.call(copy, "index").exit_code == 0 and copy.read_bytes() == now


@pytest.mark.parametrize("damage", [b"\0", b"\0" * 511, b"", np.full(128, np.nan, "<f4").tobytes(), "text", 7])
def test_a_damaged_vector_is_said_and_the_next_run_embeds_its_artifact_again(copy, damage):
    [(chunk, before)] = rows(copy, "SELECT chunk_id, v FROM fx_vec_embedding LIMIT 1")
    with closing(sqlite3.connect(copy)) as db:
        db.execute("UPDATE fx_vec_embedding SET v=? WHERE chunk_id=?", (damage, chunk))
        db.commit()
    done = fuzz_store.call(copy, "search", "restore")
    assert done.exit_code == 1 and f"the vector of chunk {chunk} is not of dimension 128" in done.stderr and "run: vecsearch index" in done.stderr
    done = fuzz_store.call(copy, "normalize")
    assert done.exit_code == 1 and all(f"chunk {chunk}: " in line for line in done.stderr.splitlines()) and done.stderr
    assert fuzz_store.call(copy, "index").exit_code == 0
    assert (before,) in rows(copy, "SELECT v FROM fx_vec_embedding") and fuzz_store.call(copy, "doctor").output == ""


def test_a_text_that_another_program_changed_is_read_again(copy):
    """Its old words can no longer be taken out of the full-text index one by one, so that is made anew."""
    execute(copy, "UPDATE fx_vec_chunk SET text='zqforeign words' WHERE path='a.md'")
    assert fuzz_store.call(copy, "index").exit_code == 0 and fuzz_store.call(copy, "doctor").output == ""
    assert "How to restore a backup" in rows(copy, "SELECT text FROM fx_vec_chunk WHERE path='a.md'")[0][0]
    assert "a.md" in fuzz_store.call(copy, "search", "backup").output


def test_garbage_in_any_column_is_answered_or_said_in_one_line_and_a_rebuild_mends_it(small):
    """A sample; `python -m benchmarks.fuzz_store REPOSITORY` tries every column with every value."""
    tried, faults = fuzz_store.run(small, 24, seed=1)
    assert tried == 24 and faults == []
