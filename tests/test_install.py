"""`vecsearch install` and `uninstall`: the launcher, the menu, and nothing left behind.

What the launcher answers inside a real `fossil server` is in test_server.py.
"""

from __future__ import annotations

import os
import pwd
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from serve import FossilServer

from vecsearch import hooks
from vecsearch.errors import VecsearchError
from vecsearch.fossil.repository import open_readonly
from vecsearch.install import DEFAULT_MENU, has_entry, install, menu, menu_line, try_launcher

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can try what another user may do")


@pytest.fixture
def extroot(open_tmp_path) -> Path:
    folder = open_tmp_path / "ext"
    folder.mkdir()
    return folder


def rows(path: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def test_it_prints_one_line_for_each_way_of_serving(vecsearch, extroot, indexed):
    said = vecsearch("install", "--extroot", extroot, "-R", indexed, check=True).stdout
    for way in (f"fossil server --extroot {extroot} {indexed}", f"fossil ui --extroot {extroot}", f"fossil server --scgi --localhost --port 9000 --extroot {extroot}",
                f"fossil http --extroot {extroot}", f"extroot: {extroot}", "--nojail"):
        assert sum(way in line for line in said.splitlines()) == 1, way
    assert [p.name for p in extroot.iterdir()] == ["search"]


def test_the_printed_lines_answer(vecsearch, extroot, indexed):
    """Those for inetd and SCGI; server and CGI are in test_server.py."""
    vecsearch("install", "--extroot", extroot, "-R", indexed, check=True)
    request = b"GET /ext/search?q=restore&format=json HTTP/1.0\r\nHost: localhost\r\n\r\n"
    inetd = subprocess.run(["fossil", "http", "--nojail", "--extroot", extroot, indexed], input=request, capture_output=True, check=True)
    assert b"200 OK" in inetd.stdout and b'"hits": [' in inetd.stdout
    facts = {"CONTENT_LENGTH": "0", "SCGI": "1", "REQUEST_METHOD": "GET", "REQUEST_URI": "/ext/search", "PATH_INFO": "/ext/search", "SCRIPT_NAME": "",
             "QUERY_STRING": "q=restore&format=json", "HTTP_HOST": "localhost", "REMOTE_ADDR": "127.0.0.1", "SERVER_PROTOCOL": "HTTP/1.0"}
    header = b"".join(f"{name}\0{value}\0".encode() for name, value in facts.items())
    scgi = subprocess.run(["fossil", "http", "--nojail", "--scgi", "--extroot", extroot, indexed], input=b"%d:%s," % (len(header), header), capture_output=True, check=True)
    assert b'"hits": [' in scgi.stdout


def test_a_file_that_is_not_ours_is_neither_overwritten_nor_removed(vecsearch, extroot, indexed):
    (extroot / "search").write_text("#!/bin/sh\necho mine\n")
    for command in ("install", "uninstall"):
        done = vecsearch(command, "--extroot", extroot, "-R", indexed)
        assert done.returncode == 2 and "not a launcher of vecsearch" in done.stderr
    assert "mine" in (extroot / "search").read_text()


def test_a_launcher_that_cannot_be_finished_leaves_nothing(indexed, extroot, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(VecsearchError, match="cannot write .*: No space left"):
        install(extroot, "search", indexed)
    assert list(extroot.iterdir()) == []


@as_root
def test_the_launcher_is_tried_as_the_servers_user(vecsearch, extroot, indexed):
    vecsearch("install", "--extroot", extroot, "-R", indexed, check=True)
    indexed.chmod(0o600)
    assert try_launcher(extroot / "search", indexed, None) == ""
    done = vecsearch("install", "--extroot", extroot, "-R", indexed, "--user", "nobody")
    assert done.returncode == 1 and "does not run with an empty environment as user nobody" in done.stderr
    done = vecsearch("install", "--extroot", extroot, "-R", indexed, "--user", "no-such-user")
    assert done.returncode == 2 and 'there is no user "no-such-user"' in done.stderr
    os.chown(indexed, pwd.getpwnam("nobody").pw_uid, -1)
    assert "as user nobody" in vecsearch("install", "--extroot", extroot, "-R", indexed).stderr  # it names who it tried


def test_the_menu_gets_an_entry_and_loses_none(vecsearch, extroot, indexed, fossil):
    vecsearch("install", "--extroot", extroot, "-R", indexed, "--menu", check=True)
    assert sorted(menu(indexed).splitlines()) == sorted([*DEFAULT_MENU.splitlines(), menu_line("search")])
    assert "already" in vecsearch("install", "--extroot", extroot, "-R", indexed, "--menu", check=True).stdout
    with FossilServer(indexed, extroot) as server:
        _, page, _ = server.get("/timeline")
        assert re.search(r"/ext/search['\"][^>]*>Search</a>", page) and re.search(r">Branches</a>", page)
    assert "removed Search" in vecsearch("uninstall", "-R", indexed, check=True).stdout
    assert menu(indexed) == ""  # Fossil's own default again
    own = "Mine /mine * {}\nSearch+ /ext/searching * {}\nLogin /login !L {}\n"
    fossil("settings", "mainmenu", own, "-R", indexed)
    vecsearch("install", "--extroot", extroot, "-R", indexed, "--menu", check=True)
    assert menu(indexed) == own.replace("Login", menu_line("search") + "\nLogin")
    vecsearch("uninstall", "-R", indexed, check=True)
    assert menu(indexed) == own


@pytest.mark.parametrize(("line", "ours"), [
    ("Search /ext/search * {}", True), ("{Find it} {/ext/search} * {}", True), ("S /ext/search", True), ("S /ext/searching * {}", False), ("S /search * {}", False),
])
def test_an_entry_is_known_by_its_page(line, ours):
    assert has_entry(line, "search") is ours


def test_uninstall_undoes_all_and_purge_leaves_a_sound_repository(vecsearch, extroot, indexed, fossil, tmp_path):
    before = rows(indexed, "SELECT count(*), sum(rid) FROM blob")
    (tmp_path / "note.txt").write_text("Not ours.")
    fossil("uv", "add", tmp_path / "note.txt", "--as", "note.txt", "--user", "ann", "-R", indexed)
    fossil("hook", "add", "--command", "true", "--type", "after-receive", "-R", indexed)
    vecsearch("install", "--extroot", extroot, "-R", indexed, "--menu", check=True)
    vecsearch("hook", "install", "-R", indexed, check=True)
    said = vecsearch("uninstall", "--extroot", extroot, "-R", indexed, "--purge", check=True).stdout
    assert [word in said for word in ("removed " + str(extroot), "from the menu", "after-receive hook", "before-commit hook", "dropped")] == [True] * 5
    assert list(extroot.iterdir()) == [] and [h.command for h in hooks.listing(indexed)] == ["true"]
    assert rows(indexed, "SELECT name FROM sqlite_schema WHERE name LIKE 'fx!_vec%' ESCAPE '!'") == []
    assert fossil("uv", "list", "-R", indexed).split()[-1] == "note.txt" and "vec/" not in fossil("uv", "list", "-R", indexed)
    assert rows(indexed, "SELECT count(*), sum(rid) FROM blob") == before
    assert "0 errors" in fossil("test-integrity", indexed)
    open_readonly(indexed).close()
    assert vecsearch("uninstall", "-R", indexed, check=True).stdout == "there was nothing to undo\n"
