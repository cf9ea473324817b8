"""A process that stays counts and says what a new one does, whatever happens to the repository between two questions; and neither counts
what Fossil would not show."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from looking import forge  # noqa: F401

from vecsearch.embed.builtin import Builtin
from vecsearch.fossil.repository import open_readonly
from vecsearch.present import result_json
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.types import KINDS

WORD = "rhinoceros"


def said(answer: dict) -> tuple:
    return answer["total"], answer["facets"], answer["state"], [(hit["kind"], hit["hash"], hit["seq"]) for hit in answer["hits"]]


@pytest.fixture
def stays(forge):  # noqa: F811
    """stays() -> what a connection that stays says of the word."""
    forge.commit({"one.md": f"# One\n\nThe {WORD} drinks.\n", "two.md": f"# Two\n\nA {WORD} sleeps.\n"}, f"about the {WORD}")
    forge.commit({"one.md": f"# One\n\nThe {WORD} drinks water.\n"}, f"more of the {WORD}")
    forge.uuid = forge.ticket(f"{WORD} crashes", f"The {WORD} crashed.")
    forge.change = forge.ticket_change(forge.uuid, icomment=f"The {WORD} crashed again.")
    forge.page = forge.wiki("Animals", f"The {WORD} of before.")
    forge.wiki("Animals", f"The {WORD} of now.")
    return forge


def ask(path) -> tuple:
    with closing(open_readonly(path)) as db:
        return said(result_json(search(db, Builtin, parse(WORD), KINDS), None))


def new_process(vecsearch, path) -> tuple:
    return said(json.loads(vecsearch("search", "-R", path, "--json", WORD, check=True).stdout))


def remove_ticket(f):
    """As Fossil's shun page does by a ticket's id (src/shun.c), and back."""
    f.sql("DELETE FROM ticket WHERE tkt_uuid=?", f.uuid)
    f.sql("DELETE FROM tagxref WHERE tagid=(SELECT tagid FROM tag WHERE tagname='tkt-'||?)", f.uuid)


def shun_and_back(f, hash_):
    f.shun(hash_)
    f.sql("DELETE FROM shun")


def forget_version(f):
    f.sql("DELETE FROM event WHERE objid=(SELECT rid FROM blob WHERE uuid=?)", f.page)


@pytest.mark.parametrize("step", [
    remove_ticket, forget_version, lambda f: shun_and_back(f, f.hash_of(f"# Two\n\nA {WORD} sleeps.\n")), lambda f: f.tag("hidden", f.page),
    lambda f: f.shun(f.change, rebuild=False), lambda f: f.sql("INSERT INTO private SELECT rid FROM blob WHERE uuid=?", f.page),
], ids=["ticket removed", "event removed", "shunned and back", "hidden", "change shunned", "private"])
def test_what_was_removed_between_two_questions_is_noticed_and_a_run_settles_it(stays, vecsearch, step):
    vecsearch("index", "-R", stays.path, check=True)
    before = ask(stays.path)
    assert before == new_process(vecsearch, stays.path) and before[2] == "ok"
    step(stays)
    assert ask(stays.path) == new_process(vecsearch, stays.path)
    vecsearch("index", "-R", stays.path, check=True)
    assert ask(stays.path) == new_process(vecsearch, stays.path) and ask(stays.path)[2] == "ok"
    stays.sql("UPDATE config SET mtime=mtime+1 WHERE name='project-code'")
    assert ask(stays.path) == new_process(vecsearch, stays.path) and ask(stays.path)[2] == "ok"


def test_a_ticket_with_a_shunned_change_is_not_counted(stays, vecsearch):
    vecsearch("index", "-R", stays.path, check=True)
    assert ask(stays.path)[1]["ticket"] >= 1
    stays.shun(stays.change, rebuild=False)
    vecsearch("index", "-R", stays.path, check=True)
    total, facets, state, hits = ask(stays.path)
    assert "ticket" not in facets and (total, state) == (len(hits), "ok")


def test_media_whose_transcript_was_shunned_is_not_counted(indexed, vecsearch):
    def media() -> tuple:
        found = json.loads(vecsearch("search", "-R", indexed, "--json", "introduction talk", check=True).stdout)
        return found["facets"].get("media", 0), len([hit for hit in found["hits"] if hit["kind"] == "media"])

    assert media() == (1, 1)
    with closing(sqlite3.connect(indexed)) as db, db:
        db.execute("INSERT INTO shun SELECT hash, 0, '' FROM fx_vec_alias a JOIN fx_vec_source s ON s.id=a.source_id WHERE a.path LIKE 'media/talks/intro%.txt'")
        db.execute("INSERT OR IGNORE INTO shun SELECT b.uuid, 0, '' FROM mlink m JOIN filename f USING (fnid) JOIN blob b ON b.rid=m.fid"
                   " WHERE f.name='media/talks/introduction.txt'")
    vecsearch("index", "-R", indexed, check=True)
    assert media() == (0, 0)


def test_another_programs_row_of_no_artifact_is_not_counted(stays, vecsearch):
    vecsearch("index", "-R", stays.path, check=True)
    before = ask(stays.path)
    stays.sql("INSERT INTO fx_vec_chunk(hash, kind, path, seq, text, project) SELECT 'ffff'||substr(hash, 5), kind, 'zz.md', 0, text, project"
              " FROM fx_vec_chunk WHERE path='two.md' AND kind='doc'")
    stays.sql("INSERT INTO fx_vec_embedding SELECT (SELECT max(id) FROM fx_vec_chunk), model, dim, v FROM fx_vec_embedding e JOIN fx_vec_chunk c"
              " ON c.id=e.chunk_id WHERE c.path='two.md' AND c.kind='doc'")
    assert ask(stays.path)[:2] == before[:2]


def test_a_copy_is_another_repository(stays, vecsearch, tmp_path):
    """The newest of each table and their numbers are the same in both: what is hidden is another."""
    vecsearch("index", "-R", stays.path, check=True)
    copy = tmp_path / "copy.fossil"
    shutil.copy(stays.path, copy)
    first, second = stays.hash_of(f"# Two\n\nA {WORD} sleeps.\n"), stays.page
    for path, hash_ in ((stays.path, first), (copy, second)):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("INSERT OR IGNORE INTO tag(tagname) VALUES('hidden')")
            db.execute("INSERT INTO tagxref SELECT (SELECT tagid FROM tag WHERE tagname='hidden'), 1, 0, 0, NULL, 0, rid FROM blob WHERE uuid=?", (hash_,))
    assert [ask(stays.path), ask(copy)] == [new_process(vecsearch, stays.path), new_process(vecsearch, copy)]
