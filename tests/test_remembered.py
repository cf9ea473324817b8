"""What a process that stays remembers: never anything of another state of the file, and the same numbers as asked anew."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager

import numpy as np
import pytest

from vecsearch.embed.builtin import Builtin
from vecsearch.errors import EmbedError
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.lexical import words_of
from vecsearch.search.lexicon import WEIGHTS, Lexicon
from vecsearch.search.memory import Memory, Recent
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.store import postings, shelf, vocabulary
from vecsearch.store.connection import one_state
from vecsearch.store.reader import Reader
from vecsearch.types import KINDS

QUESTION = parse("how are settings restored after installing")


@pytest.fixture
def ask(indexed):
    """ask() -> the result of the same question, over one connection that stays."""
    with closing(open_readonly(indexed)) as db:
        yield lambda: search(db, Builtin, QUESTION, KINDS)


def by_another_program(path, sql, *values):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(sql, values)


def test_the_text_of_a_hit_is_what_stands_in_the_file_now(ask, indexed):
    first = ask().hits[0]
    assert ask().hits[0] == first
    by_another_program(indexed, "UPDATE fx_vec_chunk SET text='settings, and another text' WHERE hash=? AND seq=?", first.hash, first.seq)
    assert next(hit for hit in ask().hits if (hit.hash, hit.seq) == (first.hash, first.seq)).text == "settings, and another text"


@pytest.mark.parametrize(("sql", "state"), [
    ("DROP TABLE fx_vec_fts", "keyword_unavailable"),
    ("UPDATE fx_vec_state SET model='another@1'", "model_mismatch"),
    ("UPDATE fx_vec_mark SET value='' WHERE name='change'", "stale"),
    ("DELETE FROM fx_vec_state", "no_index"),
])
def test_a_change_of_what_hardly_ever_changes_is_seen_by_the_next_question(ask, indexed, sql, state):
    assert ask().state == ask().state == "ok"
    by_another_program(indexed, sql)
    assert ask().state == state


def test_words_outlive_a_write_that_changes_nothing_of_them(ask, indexed):
    asked: list[str] = []
    with closing(open_readonly(indexed)) as db:
        first = search(db, Builtin, QUESTION, KINDS)
        db.set_trace_callback(asked.append)
        by_another_program(indexed, "INSERT OR REPLACE INTO config(name, value, mtime) VALUES('backoffice', '1 2 3 4', 0)")
        again = search(db, Builtin, QUESTION, KINDS)
    assert again.hits == first.hits
    assert asked and not [sql for sql in asked if "fx_vec_fts MATCH" in sql or "bm25" in sql]


@pytest.mark.parametrize("options", [{"offset": 2, "k": 2}, {"kinds": frozenset({"doc"})}, {"sort": "date"}, {"explain": True}, {"k": 1}])
def test_a_further_page_or_one_kind_of_an_answer_is_what_a_new_process_gives(indexed, options):
    query, asked = parse(QUESTION.text, **options), []
    with closing(open_readonly(indexed)) as db:
        search(db, Builtin, QUESTION, KINDS)
        db.set_trace_callback(asked.append)
        again = search(db, Builtin, query, KINDS)
        db.set_trace_callback(None)
        assert not [sql for sql in asked if "fx_vec_fts MATCH" in sql]  # it was not ranked once more
        shelf._kept.clear()
        anew = search(db, Builtin, query, KINDS)
    assert again.hits and (again.hits, again.total, again.next, again.facets) == (anew.hits, anew.total, anew.next, anew.facets)


def test_a_question_asked_again_is_embedded_once_and_another_one_is(indexed):
    embedded: list[str] = []
    shelf._kept.clear()

    class Counting(Builtin):
        def embed_query(self, text):
            embedded.append(text)
            return super().embed_query(text)

    with closing(open_readonly(indexed)) as db:
        for text in ("restore settings", "restore settings", "restore settings path:docs", "settings restore"):
            search(db, Counting, parse(text), KINDS)
    assert embedded == ["restore settings", "restore settings", "settings restore"]


@pytest.mark.parametrize(("question", "sql"), [
    ("settings user:nobodyelse", "UPDATE fx_vec_detail SET user='nobodyelse'"),
    ("settings before:2001", "UPDATE fx_vec_detail SET mtime=1"),
    ("settings path:elsewhere", "INSERT INTO fx_vec_alias SELECT id, 'elsewhere/' || id FROM fx_vec_source"),
])
def test_a_filter_looks_at_what_another_program_wrote(indexed, question, sql):
    with closing(open_readonly(indexed)) as db:
        assert not search(db, Builtin, parse(question), KINDS).hits
        by_another_program(indexed, sql)
        assert search(db, Builtin, parse(question), KINDS).hits


def test_another_server_is_asked_the_same_question_anew(indexed):
    class Elsewhere(Builtin):
        def embed_query(self, text):
            raise EmbedError("down", "nobody answers")

    shelf._kept.clear()
    with closing(open_readonly(indexed)) as db:
        assert search(db, Builtin, QUESTION, KINDS).state == "ok"
        by_another_program(indexed, "INSERT OR REPLACE INTO fx_vec_config VALUES('provider-url', 'http://elsewhere')")
        assert search(db, Elsewhere, QUESTION, KINDS).state == "semantic_unavailable"


def test_an_arm_that_failed_is_asked_again(indexed):
    class Down(Builtin):
        def embed_query(self, text):
            raise EmbedError("down", "nobody answers")

    shelf._kept.clear()  # a copy of the same repository is the same
    with closing(open_readonly(indexed)) as db:
        assert search(db, Down, QUESTION, KINDS).state == search(db, Down, QUESTION, KINDS).state == "semantic_unavailable"
        result = search(db, Builtin, QUESTION, KINDS)
    assert result.state == "ok" and any("semantic" in hit.arms for hit in result.hits)


def test_words_are_asked_again_once_their_index_is_another(ask, indexed):
    assert [hit for hit in ask().hits if "keyword" in hit.arms]
    by_another_program(indexed, "INSERT INTO fx_vec_fts(fx_vec_fts) VALUES('delete-all')")
    assert not [hit for hit in ask().hits if "keyword" in hit.arms]


def test_what_is_shunned_between_two_questions_is_not_shown(ask, indexed):
    first = ask().hits[0]
    by_another_program(indexed, "INSERT INTO shun(uuid, mtime, scom) VALUES(?, 0, '')", first.hash)
    assert first.hash not in {hit.hash for hit in ask().hits}


@contextmanager
def lexicon_of(repository):
    with closing(open_readonly(repository)) as db:
        vocabulary.attach(db)
        with one_state(db):
            reader = Reader(db)
            yield Lexicon(reader, reader.shelf(reader.state(), frozenset(KINDS)), Memory(()))


def alone(lexicon, expression):
    """row -> what FTS5 says of the expression, asked for nothing else; without its own rarity."""
    ids, [strengths] = postings.match(lexicon.reader.db, expression, [WEIGHTS], -1)
    everywhere = max(np.log((postings.rows(lexicon.reader.db) + 0.5) / (len(ids) + 0.5)), 0.2)
    here, rows = lexicon.shelf.rows(ids)
    return dict(zip(rows.tolist(), (strengths[here].astype(np.float32) / everywhere).astype(np.float32).tolist(), strict=True))


def found_by(match):
    return dict(zip(match.rows.tolist(), match.values.tolist(), strict=True))


WORDS = "settings restoring files installed server tickets merging branches pages wiki searching indexed zebra"


def test_a_word_and_its_forms_weigh_what_fts5_says_of_them_together(indexed):
    with lexicon_of(indexed) as lexicon:
        met = 0
        for word in words_of(parse(WORDS)):
            typed, formed = lexicon.word(word.expression, word.others)
            assert found_by(typed) == alone(lexicon, word.expression) and found_by(formed) == alone(lexicon, word.forms)
            met += len(formed.rows) > len(typed.rows)
        assert met > 3


@pytest.mark.parametrize("common", [2000, 3])
def test_what_is_kept_of_names_and_paths_is_what_fts5_says_of_these_columns(indexed, monkeypatch, common):
    monkeypatch.setattr("vecsearch.search.lexicon.COMMON", common)  # 3: most words are in too many rows
    with closing(sqlite3.connect(indexed)) as db:
        symbols = " ".join(symbol for (symbol,) in db.execute("SELECT DISTINCT symbol FROM fx_vec_detail WHERE symbol<>''"))
    met = 0
    for word in words_of(parse(f"{WORDS} {symbols}")):
        with lexicon_of(indexed) as lexicon:
            lexicon.weighed(word.expression)
            kept = common == 2000 and word.expression.count('"') == 2  # else it is asked for when it is wanted
            names, path = f"{{symbol named}} : ({word.expression})", f"path : {word.expression}"
            assert not kept or (names in lexicon.memory.matches._held and f"rows {path}" in lexicon.memory.matches._held)
            monkeypatch.setattr("vecsearch.search.lexicon.COMMON", 2000)
            found, expected = found_by(lexicon.names(word.expression)), alone(lexicon, names)
            assert found == pytest.approx(expected, rel=1e-5), word
            if " OR " not in word.expression:
                assert sorted(lexicon.rows(path).tolist()) == sorted(alone(lexicon, path)), word
            met += len(expected) > 0
            monkeypatch.setattr("vecsearch.search.lexicon.COMMON", common)
    assert met > 2


def test_of_several_first_searches_one_loads(indexed):
    start, found = threading.Barrier(8), []

    def first() -> None:
        with closing(open_readonly(indexed)) as db, one_state(db):
            reader = Reader(db)
            state = reader.state()
            start.wait()
            found.append(reader.shelf(state, frozenset(KINDS)))

    shelf._kept.clear()
    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len({id(one._vectors) for one in found}) == 1


def test_the_least_recently_used_goes_first():
    recent = Recent(1000)
    for key in "abc":
        recent.put(key, key.upper(), 200)
    assert recent.get("a") == "A"
    recent.put("d", "D", 200)
    assert [recent.get(key) for key in "abcd"] == ["A", None, "C", "D"]
