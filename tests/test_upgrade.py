"""An index of another format is made anew with a clear word or refused, and never misread."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from vecsearch import embed
from vecsearch.errors import StoreError
from vecsearch.index import index
from vecsearch.store import schema

FIXTURES = Path(__file__).parent / "fixtures"


def plant(path: Path, fixture: str) -> None:
    """Put an old index into a repository that has none."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("ATTACH ? AS old", (str(FIXTURES / fixture),))
        for name, ddl in db.execute("SELECT name, sql FROM old.sqlite_schema WHERE type='table' ORDER BY name").fetchall():
            db.execute(ddl)
            db.execute(f"INSERT INTO main.{name} SELECT * FROM old.{name}")
        db.commit()


def rows(path: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def test_the_contracts_tables_alone_answer_at_once_and_are_replaced(demo, vecsearch):
    plant(demo, "contract.db")
    vecsearch("config", "-R", demo, "provider", "hash", check=True)
    found = vecsearch("search", "-R", demo, "--mode", "semantic", "--json", "zanzibarite", check=True).stdout
    assert "hash:char-128@1" in found
    vecsearch("index", "-R", demo, check=True)
    assert rows(demo, "SELECT count(*) FROM fx_vec_chunk WHERE path='old.md'") == [(0,)]
    assert rows(demo, "SELECT (SELECT count(*) FROM fx_vec_chunk) - (SELECT count(*) FROM fx_vec_embedding)") == [(0,)]
    assert vecsearch("doctor", "-R", demo).stdout == ""


def test_an_older_format_says_rebuild_and_a_rebuild_mends_it(demo, vecsearch, monkeypatch):
    plant(demo, "format1.db")
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 1000)
    with pytest.raises(StoreError, match="the index has format 1, this vecsearch reads 1000; run: vecsearch rebuild"):
        index(demo, embed.get)
    assert index(demo, embed.get, rebuild=True).chunks > 20
    assert rows(demo, "SELECT value FROM fx_vec_mark WHERE name='schema'") == [("1000",)]
    assert rows(demo, "SELECT value FROM fx_vec_config WHERE name='provider'") == [("hash",)]  # settings outlive it
    assert index(demo, embed.get).unchanged


def test_a_newer_format_is_refused_by_every_command_and_not_touched(indexed, vecsearch):
    with closing(sqlite3.connect(indexed)) as db:
        db.execute("UPDATE fx_vec_mark SET value='999' WHERE name='schema'")
        db.commit()
    before = rows(indexed, "SELECT count(*), sum(id) FROM fx_vec_chunk")
    for command in (("index",), ("rebuild",), ("search", "x"), ("status",)):
        done = vecsearch(command[0], "-R", indexed, *command[1:])
        assert done.returncode == 1 and "the index has format 999" in done.stderr and "install a newer vecsearch" in done.stderr, command
    assert rows(indexed, "SELECT count(*), sum(id) FROM fx_vec_chunk") == before


def test_peers_and_libraries_are_named_after_a_rebuild_over_another_format(indexed, vecsearch, tmp_path):
    """Their content is not in this repository; that they were there is kept and said."""
    peer, library = tmp_path / "peer.fossil", tmp_path / "lib"
    shutil.copy(indexed, peer)
    library.mkdir()
    (library / "lib.py").write_text('def f(x):\n    """What it does with x."""\n')
    vecsearch("peer", "add", "-R", indexed, "other", peer, check=True)
    vecsearch("import-api", "-R", indexed, "lib", library, "--url-template", "https://example.com/{name}", check=True)
    assert vecsearch("rebuild", "-R", indexed, check=True).stderr == ""
    with closing(sqlite3.connect(indexed)) as db:
        db.execute("UPDATE fx_vec_mark SET value='0' WHERE name='schema'")
        db.commit()
    done = vecsearch("rebuild", "-R", indexed, check=True)
    assert "peer other; run: vecsearch peer update" in done.stderr and "library lib; take it in again" in done.stderr
    vecsearch("peer", "update", "-R", indexed, check=True)
    assert rows(indexed, "SELECT count(*) > 10 FROM fx_vec_chunk WHERE project='other'") == [(1,)]
