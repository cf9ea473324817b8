"""Fossil's hooks: whatever comes in is found, by a real server, a real sync and a real commit."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from serve import FossilServer
from test_watch import current, until, write_wiki

from vecsearch import hooks, lock


@pytest.fixture
def hooked(indexed, vecsearch) -> Path:
    vecsearch("hook", "install", "-R", indexed, check=True)
    yield indexed
    indexed.unlink()  # and the process that stays for a minute ends, too


def test_hooks_are_added_once_and_others_stay(indexed, vecsearch, fossil):
    fossil("hook", "add", "--command", "true", "--type", "after-receive", "-R", indexed)
    for _ in range(2):
        vecsearch("hook", "install", "-R", indexed, check=True)
    assert [(h.type, h.ours) for h in hooks.listing(indexed)] == [("after-receive", False), ("after-receive", True), ("before-commit", True)]
    assert all(sys.executable.rsplit("/", 1)[0] in h.command and '-R "%R"' in h.command for h in hooks.listing(indexed) if h.ours)
    assert "removed the before-commit hook" in vecsearch("hook", "uninstall", "-R", indexed, check=True).stdout
    assert [h.command for h in hooks.listing(indexed)] == ["true"]
    assert "there was no hook" in vecsearch("hook", "uninstall", "-R", indexed, check=True).stdout


def test_a_name_that_a_shell_would_read_is_refused(indexed, vecsearch):
    odd = indexed.with_name("a$(id).fossil")
    shutil.copy(indexed, odd)
    done = vecsearch("hook", "install", "-R", odd)
    assert done.returncode == 2 and "is not safe there" in done.stderr and hooks.listing(odd) == []


def test_a_commit_in_a_checkout_is_found(hooked, fossil, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    fossil("open", hooked, "--workdir", work)
    (work / "new.md").write_text("A zanzibarite.\n")
    fossil("add", "new.md", cwd=work)
    fossil("commit", "--no-warnings", "-m", "New", cwd=work)
    assert until(lambda: current(hooked))


def test_a_sync_from_a_clone_is_found_and_so_is_what_follows_within_the_minute(hooked, fossil, tmp_path):
    with sqlite3.connect(hooked) as db:
        db.execute("UPDATE user SET cap='goijk' WHERE login='nobody'")
        db.execute("INSERT OR REPLACE INTO config(name, value, mtime) VALUES('uv-sync', '0', 0)")
    db.close()
    clone = tmp_path / "clone.fossil"
    with FossilServer(hooked, tmp_path) as server:
        fossil("clone", server.base, clone)
        for name in ("first", "second"):  # Fossil itself would let the second wait for a minute
            write_wiki(fossil, clone, name, f"Page {name}.")
            fossil("sync", "-R", clone)
            server.get("/timeline")
            assert until(lambda: current(hooked)), name
    with sqlite3.connect(hooked) as db:
        assert db.execute("SELECT count(*) FROM fx_vec_chunk WHERE kind='wiki' AND path IN ('first', 'second')").fetchone() == (2,)
    db.close()


def test_what_a_hook_started_does_not_index_anew_what_is_purged(hooked, vecsearch, fossil):
    vecsearch("hook", "run", "--commit", "-R", hooked, check=True)
    assert until(lambda: not lock.is_free(hooked, "watch"))
    write_wiki(fossil, hooked, "first", "It is at work.")
    assert until(lambda: current(hooked))
    assert "dropped" in vecsearch("uninstall", "-R", hooked, "--purge", check=True).stdout
    assert until(lambda: lock.is_free(hooked, "watch"))
    with sqlite3.connect(hooked) as db:
        assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'fx!_vec%' ESCAPE '!'").fetchone() == (0,)
    db.close()
