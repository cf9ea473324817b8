"""The full-text index stays in few segments, at a cost that grows with what is new."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from looking import forge  # noqa: F401

from vecsearch.embed.builtin import Builtin
from vecsearch.index import index
from vecsearch.store import connection, merge


def segments(path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT count(DISTINCT segid) FROM fx_vec_fts_idx").fetchone()[0]


def test_the_words_of_a_large_run_are_merged_and_those_of_a_small_one_left(forge, vecsearch):  # noqa: F811
    """FTS5 says what is in a segment: https://www.sqlite.org/fts5.html, section 6.8. Merging a second time for three words would cost as much."""
    forge.commit({f"docs/{n}.md": "\n\n".join(f"# Heading {k}\n\n{' '.join(f'word{n}x{k}x{i}' for i in range(90))}" for k in range(9)) for n in range(60)})
    vecsearch("index", "-R", forge.path, check=True)
    assert segments(forge.path) == 1
    forge.commit({"docs/one.md": "# A quokka\n\nThe quokka smiles.\n"})
    vecsearch("index", "-R", forge.path, check=True)
    assert segments(forge.path) > 1
    assert "docs/one.md" in vecsearch("search", "-R", forge.path, "quokka", check=True).stdout
    assert "docs/7.md" in vecsearch("search", "-R", forge.path, "word7x3x5", check=True).stdout


def scatter(path) -> None:
    """Five segments beside the large one."""
    with closing(connection.open_writable(path)) as db:
        db.execute("INSERT INTO fx_vec_fts(fx_vec_fts, rank) VALUES('automerge', 0)")
        for n in range(5):
            db.execute("INSERT INTO fx_vec_fts(rowid, body) VALUES(?, ?)", (10_000 + n, " ".join(f"other{n}x{i}" for i in range(2000))))


def large(forge):  # noqa: F811
    forge.commit({f"{n}.md": " ".join(f"word{n}x{i}" for i in range(900)) for n in range(40)})


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_merge_that_was_cut_off_goes_on_with_the_next_run_though_nothing_has_changed(forge, vecsearch, monkeypatch, steps):  # noqa: F811
    large(forge)
    vecsearch("index", "-R", forge.path, check=True)
    scatter(forge.path)
    monkeypatch.setattr(merge, "PAGES", 1)
    with closing(connection.open_writable(forge.path)) as db:
        for _ in range(steps):
            with connection.transaction(db):
                assert merge.is_due(db) and merge.step(db)
    assert segments(forge.path) > 1
    assert "nothing to do" in vecsearch("index", "-R", forge.path, check=True).stdout
    assert segments(forge.path) == 1
    before = forge.path.read_bytes()
    vecsearch("index", "-R", forge.path, check=True)
    assert forge.path.read_bytes() == before
    with closing(sqlite3.connect(forge.path)) as db:
        assert db.execute("SELECT rowid FROM fx_vec_fts WHERE fx_vec_fts MATCH 'other3x77'").fetchall() == [(10_003,)]
        db.execute("INSERT INTO fx_vec_fts(fx_vec_fts) VALUES('integrity-check')")


@pytest.mark.parametrize("kept_from", ["a writer", "a full disk"])
def test_what_keeps_a_merge_from_being_made_does_not_fail_the_run(forge, vecsearch, monkeypatch, kept_from):  # noqa: F811
    large(forge)
    vecsearch("index", "-R", forge.path, check=True)
    scatter(forge.path)
    forge.commit({"new.md": "# A quokka\n"})
    with closing(sqlite3.connect(forge.path, isolation_level=None)) as other:
        step = merge.step

        def kept(db):
            if kept_from == "a full disk":
                db.execute(f"PRAGMA max_page_count={db.execute('PRAGMA page_count').fetchone()[0]}")
            return step(db)

        monkeypatch.setattr(merge, "step", kept)
        due = merge.is_due
        monkeypatch.setattr(connection, "BUSY_SECONDS", 0.1)
        monkeypatch.setattr(merge, "is_due", lambda db: (kept_from == "a writer" and other.execute("BEGIN IMMEDIATE"), due(db))[1])
        assert index(forge.path, lambda settings: Builtin()).artifacts >= 1
    assert segments(forge.path) > 1
    assert "quokka" in vecsearch("search", "-R", forge.path, "quokka", check=True).stdout


def test_a_damaged_segment_is_no_reason_to_fail(forge, vecsearch):  # noqa: F811
    forge.commit({f"{n}.md": " ".join(f"word{n}x{i}" for i in range(900)) for n in range(40)})
    vecsearch("index", "-R", forge.path, check=True)
    with closing(sqlite3.connect(forge.path)) as db, db:
        db.execute("UPDATE fx_vec_fts_data SET block=zeroblob(30) WHERE id IN (SELECT id FROM fx_vec_fts_data WHERE id>100 ORDER BY id LIMIT 3)")
    forge.commit({f"new{n}.md": " ".join(f"other{n}x{i}" for i in range(900)) for n in range(40)})
    vecsearch("index", "-R", forge.path, check=True)  # makes it anew
    vecsearch("index", "-R", forge.path, check=True)  # merges it
    assert segments(forge.path) == 1
    for word in ("word0x1", "word39x899", "other7x3"):
        assert vecsearch("search", "-R", forge.path, word, check=True).stdout.strip() not in ("", "nothing relevant found"), word
