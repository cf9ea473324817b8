"""The main job on the command line: what an index run promises to an admin."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import VECSEARCH

from vecsearch.embed.hashing import Hashing
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.types import KINDS


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rows(path: Path, sql: str) -> list[tuple]:
    db = sqlite3.connect(path)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def found(run, path, *query: str) -> list[dict]:
    done = run("search", "-R", path, "--json", *query)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hits"]


def test_contract_tables_have_the_columns_other_programs_read(indexed):
    columns = {table: [tuple(r[1:4]) for r in rows(indexed, f"PRAGMA table_info({table})")]
               for table in ("fx_vec_chunk", "fx_vec_embedding", "fx_vec_state")}
    assert columns["fx_vec_chunk"] == [("id", "INTEGER", 0), ("hash", "TEXT", 1), ("kind", "TEXT", 1), ("path", "TEXT", 0),
                                       ("seq", "INTEGER", 1), ("text", "TEXT", 1), ("project", "TEXT", 0)]
    assert columns["fx_vec_embedding"] == [("chunk_id", "INTEGER", 1), ("model", "TEXT", 1), ("dim", "INTEGER", 1), ("v", "BLOB", 1)]
    assert columns["fx_vec_state"] == [("model", "TEXT", 1), ("dim", "INTEGER", 1), ("last_ckout", "TEXT", 0)]


def test_every_vector_is_unit_float32_of_the_stated_dimension(indexed):
    [(model, dim, checkin)] = rows(indexed, "SELECT * FROM fx_vec_state")
    stored = rows(indexed, "SELECT model, dim, v FROM fx_vec_embedding")
    assert len(stored) == rows(indexed, "SELECT count(*) FROM fx_vec_chunk")[0][0] > 20
    for row_model, row_dim, blob in stored:
        vector = np.frombuffer(blob, "<f4")
        assert (row_model, row_dim, len(vector)) == (model, dim, dim)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_the_index_is_current_to_fossils_own_tip(indexed, fossil):
    [(_, _, checkin)] = rows(indexed, "SELECT * FROM fx_vec_state")
    assert fossil("info", "trunk", "-R", indexed).split()[1] == checkin[:40]


def test_an_unchanged_repository_is_not_written_to(indexed, vecsearch):
    before = digest(indexed)
    assert vecsearch("index", "-R", indexed).stdout == "nothing to do: the index is current\n"
    assert digest(indexed) == before


def test_search_writes_nothing(indexed, vecsearch):
    before = digest(indexed)
    found(vecsearch, indexed, "restore")
    assert digest(indexed) == before and not list(indexed.parent.glob("demo.fossil-*"))


def test_fossil_rebuild_keeps_the_index_and_the_hits(indexed, vecsearch, fossil):
    before = found(vecsearch, indexed, "restore one file")
    fossil("rebuild", indexed)
    assert found(vecsearch, indexed, "restore one file") == before


def test_only_what_changed_is_embedded_and_what_vanished_is_gone(indexed, vecsearch, fossil, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    fossil("open", indexed, "--workdir", work)
    (work / "docs/new.md").write_text("# Zanzibar\n\nA page about zanzibarite crystals.\n")
    fossil("add", "docs/new.md", cwd=work)
    fossil("mv", "--hard", "docs/schedule.md", "docs/nightly.md", cwd=work)
    fossil("rm", "--hard", "docs/fehler.txt", cwd=work)
    fossil("commit", "--no-warnings", "-m", "Three changes", cwd=work)
    report = json.loads(vecsearch("index", "-R", indexed, "--json").stdout)
    # The new page and the new check-in; the renamed page keeps its vector; the removed one leaves.
    assert (report["embedded"], report["moved"], report["removed"]) == (2, 1, 1)
    assert found(vecsearch, indexed, "zanzibarite")[0]["path"] == "docs/new.md"
    assert found(vecsearch, indexed, "nightly cron", "path:docs")[0]["path"] == "docs/nightly.md"
    assert rows(indexed, "SELECT count(*) FROM fx_vec_chunk WHERE text LIKE '%Datentraeger%'") == [(0,)]


def test_a_rename_into_another_kind_embeds_nothing(indexed, vecsearch, fossil, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    fossil("open", indexed, "--workdir", work)
    (work / "prompts").mkdir()
    fossil("mv", "--hard", "docs/schedule.md", "prompts/schedule.md", cwd=work)
    fossil("commit", "--no-warnings", "-m", "A rename", cwd=work)
    assert json.loads(vecsearch("index", "-R", indexed, "--json").stdout)["embedded"] == 1  # the check-in itself
    kinds = dict(rows(indexed, "SELECT path, kind FROM fx_vec_chunk WHERE path GLOB '*/schedule.md'"))
    assert kinds == {"prompts/schedule.md": "instruction"}


def test_a_branch_that_does_not_exist_is_said_and_the_near_one_named(indexed, vecsearch):
    assert 'no branch "trnk" yet; did you mean "trunk"?' in vecsearch("config", "branch", "trnk", "-R", indexed, check=True).stdout
    assert "no branch" not in vecsearch("config", "branch", "trunk", "-R", indexed, check=True).stdout


def test_a_rebuild_gives_the_same_hits_as_growing_did(indexed, vecsearch):
    before = found(vecsearch, indexed, "power cut")
    vecsearch("rebuild", "-R", indexed, check=True)
    assert found(vecsearch, indexed, "power cut") == before
    assert rows(indexed, "SELECT count(*) FROM fx_vec_embedding") == rows(indexed, "SELECT count(*) FROM fx_vec_chunk")


def test_killed_at_any_moment_it_is_whole_and_the_next_run_completes(demo, vecsearch, fossil):
    """SIGKILL at 50 random moments of a run; `deploy/test` repeats what a power cut does to an admin."""
    rng = random.Random(1)
    started = time.monotonic()
    subprocess.run([VECSEARCH, "rebuild", "-R", str(demo)], check=True, capture_output=True)
    whole = time.monotonic() - started
    for _ in range(50):
        process = subprocess.Popen([VECSEARCH, "rebuild", "-R", str(demo)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        process.wait()
        with closing(open_readonly(demo)) as db:  # before any writer has mended what was cut short
            assert search(db, Hashing, parse("restore"), KINDS).hits
        assert rows(demo, "PRAGMA quick_check") == [("ok",)]
    fossil("test-integrity", demo)
    vecsearch("index", "-R", demo, check=True)
    orphans = "SELECT count(*) FROM fx_vec_chunk c LEFT JOIN fx_vec_embedding e ON e.chunk_id=c.id WHERE e.v IS NULL"
    assert rows(demo, orphans) == [(0,)]


def test_a_locked_repository_answers_searches_and_refuses_an_index_run(indexed, vecsearch, monkeypatch):
    from vecsearch.store import connection

    holder = sqlite3.connect(indexed, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    holder.execute("UPDATE config SET mtime=mtime WHERE name='project-code'")
    try:
        assert found(vecsearch, indexed, "restore")
        monkeypatch.setattr(connection, "BUSY_SECONDS", 0.2)
        from vecsearch import embed
        from vecsearch.errors import RepositoryError
        from vecsearch.index import index

        with pytest.raises(RepositoryError, match="locked: another process is using it"):
            index(indexed, embed.get, rebuild=True)
    finally:
        holder.execute("ROLLBACK")
        holder.close()


def test_two_runs_at_once_leave_one_index(demo, vecsearch):
    runs = [threading.Thread(target=vecsearch, args=("index", "-R", demo)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert vecsearch("index", "-R", demo).returncode == 0
    [(chunks, embeddings)] = rows(demo, "SELECT (SELECT count(*) FROM fx_vec_chunk), (SELECT count(*) FROM fx_vec_embedding)")
    assert chunks == embeddings == 24


def test_another_model_is_refused_and_named_until_a_rebuild(indexed, vecsearch):
    db = sqlite3.connect(indexed)
    db.execute("INSERT INTO fx_vec_config VALUES('provider', 'ollama'), ('provider-url', 'http://127.0.0.1:9')")
    db.commit()
    db.close()
    done = vecsearch("index", "-R", indexed)
    assert done.returncode == 1 and "configured is ollama:nomic-embed-text; run: vecsearch rebuild" in done.stderr
    done = vecsearch("search", "-R", indexed, "--json", "restore")
    data = json.loads(done.stdout)
    assert data["state"] == "model_mismatch" and data["hits"] and all("semantic" not in hit["arms"] for hit in data["hits"])
    [(model, dim)] = rows(indexed, "SELECT model, dim FROM fx_vec_state")
    assert f"{model} ({dim})" in data["message"] and "ollama:nomic-embed-text" in data["message"]


WRONG = [
    ("missing", lambda p: p / "none.fossil", "there is no such file"),
    ("directory", lambda p: p, "this is a directory"),
    ("text", lambda p: _write(p / "notes.txt", b"not a database"), "repository"),
    ("empty", lambda p: _write(p / "empty", b""), "repository"),
    ("sqlite", lambda p: _sqlite(p / "other.db"), "repository"),
]


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _sqlite(path: Path) -> Path:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t(x)")
    db.commit()
    db.close()
    return path


@pytest.mark.parametrize(("name", "make", "says"), WRONG, ids=[w[0] for w in WRONG])
@pytest.mark.parametrize("command", [("index",), ("search", "x"), ("status",), ("rebuild",)], ids=lambda c: c[0])
def test_what_is_no_repository_is_one_clear_line(vecsearch, tmp_path, command, name, make, says):
    done = vecsearch(command[0], "-R", make(tmp_path), *command[1:])
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("vecsearch: ") and done.stderr.count("\n") == 1 and says in done.stderr


def test_outside_a_checkout_without_R_it_says_what_to_do(vecsearch, tmp_path):
    done = vecsearch("status", cwd=tmp_path)
    assert done.returncode == 1 and "-R" in done.stderr and done.stderr.count("\n") == 1


def test_inside_a_checkout_it_finds_the_repository(indexed, vecsearch, fossil, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    fossil("open", indexed, "--workdir", work)
    assert str(indexed) in vecsearch("status", cwd=work / "docs", check=True).stdout


def test_no_index_yet_is_said_everywhere(demo, vecsearch):
    done = vecsearch("search", "-R", demo, "x")
    assert done.returncode == 1 and "there is no index in this repository yet; run: vecsearch index" in done.stderr
    assert json.loads(vecsearch("search", "-R", demo, "--json", "x").stdout)["state"] == "no_index"
    assert "no index" in vecsearch("status", "-R", demo, check=True).stdout


def test_foreign_tables_are_named_not_read(demo, vecsearch):
    db = sqlite3.connect(demo)
    db.execute("CREATE TABLE fx_vec_chunk(id INTEGER PRIMARY KEY, body TEXT)")
    db.commit()
    db.close()
    for command in (("search", "x"), ("index",), ("status",), ("rebuild",)):
        done = vecsearch(command[0], "-R", demo, *command[1:])
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
        assert f"{demo}: table fx_vec_chunk lacks hash" in done.stderr and "vecsearch uninstall --purge" in done.stderr
    vecsearch("uninstall", "-R", demo, "--purge", check=True)
    vecsearch("index", "-R", demo, check=True)
    assert found(vecsearch, demo, "restore")


def test_wrong_usage_is_exit_2(indexed, vecsearch):
    for args in (("search", "-k", "-1", "x"), ("search", "-k", "abc", "x"), ("search", "--kind", "docs", "x"), ("search",), ("nonsense",)):
        done = vecsearch(*args, *(["-R", indexed] if args[0] != "nonsense" else []))
        assert done.returncode == 2 and "Traceback" not in done.stderr


def test_the_contracts_names_of_the_commands(indexed):
    tool = str(Path(VECSEARCH).with_name("agent-tool"))
    done = subprocess.run([tool, "vec-search", "-R", str(indexed), "--json", "restore"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["hits"]
    assert "current" in subprocess.run([tool, "vec-index", "-R", str(indexed)], capture_output=True, text=True, check=True).stdout


def test_progress_is_silent_when_piped(demo, vecsearch):
    assert vecsearch("index", "-R", demo, check=True).stderr == ""


def test_the_hit_shape_is_frozen(indexed, vecsearch):
    for hit in found(vecsearch, indexed, "restore"):
        assert list(hit)[:6] == ["score", "kind", "project", "path", "hash", "text"]
        assert isinstance(hit["score"], float) and 0 <= hit["score"] <= 1
        assert hit["kind"] in ("doc", "wiki", "technote", "ticket", "forum", "code", "instruction", "media", "api", "checkin")
        assert hit["project"] == "" and isinstance(hit["hash"], str) and isinstance(hit["text"], str)
        assert hit["path"] is None or isinstance(hit["path"], str)
        assert hit["lines"] is None or len(hit["lines"]) == 2


def test_an_empty_repository_is_indexed_and_searched(fossil, vecsearch, tmp_path):
    path = tmp_path / "empty.fossil"
    fossil("init", "--empty", path) if "--empty" in fossil("help", "init") else fossil("init", path)
    vecsearch("index", "-R", path, check=True)
    assert os.path.exists(path) and vecsearch("search", "-R", path, "x").returncode == 0


def test_a_document_that_says_the_same_twice_changes_model(demo, vecsearch, fossil, tmp_path):
    checkout = tmp_path / "co"
    checkout.mkdir()
    fossil("open", demo, cwd=checkout)
    (checkout / "docs/twice.md").write_text("# Same\n\n" + "\n\n".join(["## Again\n\n" + "The very same words. " * 60] * 3))
    fossil("add", "docs/twice.md", cwd=checkout)
    fossil("commit", "--no-warnings", "-m", "twice", cwd=checkout)
    vecsearch("index", "-R", demo, check=True)
    vecsearch("config", "provider", "hash", "-R", demo, check=True)
    vecsearch("rebuild", "-R", demo, check=True)
    with closing(sqlite3.connect(demo)) as db:
        assert db.execute("SELECT count(*), count(DISTINCT model) FROM fx_vec_embedding").fetchone() == (
            db.execute("SELECT count(*) FROM fx_vec_chunk").fetchone()[0], 1)
