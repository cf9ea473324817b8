"""Who sees what, in a real server: no difference to Fossil itself in the direction of showing more."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from urllib.parse import urlencode

import pytest
from serve import FossilServer
from test_server import extroot, search, set_caps  # noqa: F401

READ = {"doc", "code", "instruction", "media", "checkin"}
#: A phrase out of each kind of content: what holds a phrase that was asked for is always found.
QUERY = ('"restore one file" "disk_free_bytes" "silent fallback" "stolen laptop" "when a block is new" "key on paper" "twice as fast"'
         ' "goes to sleep" "label the disk"')


@pytest.fixture
def add_user(fossil):
    """As an administrator does; the password is "secret"."""

    def add(path: Path, login: str, cap: str) -> None:
        fossil("user", "new", login, "", "secret", "-R", path)
        fossil("user", "capabilities", login, cap, "-R", path)

    return add


def kinds_seen(server: FossilServer) -> set[str]:
    """Kinds of the hits, the same in HTML and JSON; the menu offers no other."""
    data = search(server, QUERY, k=100)
    seen = {hit["kind"] for hit in data["hits"]}
    status, page, _ = server.get("/ext/search?" + urlencode({"k": 100, "q": QUERY}))
    assert status == 200
    assert set(re.findall(r'class="vs-kind[^"]*">(\w+)<', page)) == seen
    [menu] = re.findall(r'<select name="kind">(.*?)</select>', page, re.S) or [""]
    menu = set(re.findall(r'<option value="(\w+)"', menu))
    assert menu == seen if len(seen) > 1 else menu <= seen
    assert data["total"] == len(data["hits"])
    return seen


@pytest.mark.parametrize(("nobody", "anonymous", "expected"), [
    ("", "jo2", set()),                       # not logged in: the letters of anonymous are not the visitor's
    ("i", "", READ),                          # i gives Read
    ("o", "", READ),
    ("j", "", {"wiki"}),
    ("k", "", {"wiki"}),
    ("jo", "", READ | {"wiki", "technote"}),
    ("w", "", {"ticket"}),
    ("3", "", {"forum"}),
    ("a", "", READ | {"wiki", "technote", "ticket", "forum"}),
    ("gjorz2", "", READ | {"wiki", "technote", "ticket", "forum"}),
    ("u", "", set()),                         # reader is empty here: see below for u with letters
    ("", "", set()),
])
def test_a_stranger_sees_what_nobody_may_read(indexed, extroot, nobody, anonymous, expected):  # noqa: F811
    set_caps(indexed, nobody=nobody, anonymous=anonymous, reader="", developer="")
    with FossilServer(indexed, extroot) as server:
        assert kinds_seen(server) == expected


def test_reader_and_developer_are_expanded(indexed, extroot):  # noqa: F811
    set_caps(indexed, nobody="u", anonymous="", reader="o", developer="j")
    with FossilServer(indexed, extroot) as server:
        assert kinds_seen(server) == READ
    set_caps(indexed, nobody="v")
    with FossilServer(indexed, extroot) as server:
        assert kinds_seen(server) == {"wiki"}


def test_a_name_from_the_servers_environment_gives_nothing(indexed, extroot):  # noqa: F811
    """CASES 32: the administrator ann has every right, and starts the server."""
    set_caps(indexed, nobody="j", anonymous="")
    for name in ("ann", "root"):
        with FossilServer(indexed, extroot, env={"FOSSIL_USER": name, "REMOTE_USER": name, "USER": name}) as server:
            assert kinds_seen(server) == {"wiki"}
            status, body, _ = server.get("/ext/search?format=json&q=restore&FOSSIL_USER=ann&FOSSIL_CAPABILITIES=s")
            assert {hit["kind"] for hit in json.loads(body)["hits"]} <= {"wiki"}


def test_after_a_login_the_users_own_rights(indexed, extroot, add_user):  # noqa: F811
    set_caps(indexed, nobody="", anonymous="2", reader="", developer="r")
    add_user(indexed, "bob", "jv")
    with FossilServer(indexed, extroot) as server:
        assert kinds_seen(server) == set()
        server.login("bob", "secret")
        assert kinds_seen(server) == {"wiki", "ticket", "forum"}


def test_an_administrator_who_logs_in_sees_everything(indexed, extroot, add_user):  # noqa: F811
    set_caps(indexed, nobody="", anonymous="")
    add_user(indexed, "root", "s")
    with FossilServer(indexed, extroot) as server:
        server.login("root", "secret")
        assert kinds_seen(server) == READ | {"wiki", "technote", "ticket", "forum"}


def test_anonymous_gets_its_letters_only_after_its_login(indexed, extroot):  # noqa: F811
    """CASES 31."""
    set_caps(indexed, nobody="jo", anonymous="hmncrf2")
    db = sqlite3.connect(indexed)
    db.execute("INSERT OR REPLACE INTO config(name, value, mtime) VALUES('auto-captcha', '1', 0)")
    db.commit()
    db.close()
    with FossilServer(indexed, extroot) as server:
        assert kinds_seen(server) == READ | {"wiki", "technote"}
        server.login_anonymous()
        assert kinds_seen(server) == READ | {"wiki", "technote", "ticket", "forum"}


def test_what_is_hidden_leaves_the_page_full(indexed, extroot):  # noqa: F811
    """Kinds are narrowed before ranking and truncation: one permitted kind fills page 1 with its own."""
    set_caps(indexed, nobody="2")
    with FossilServer(indexed, extroot) as server:
        data = search(server, "which disk format ext4 verify", k=2)
        assert [hit["kind"] for hit in data["hits"]] == ["forum", "forum"] and data["total"] == 3


def test_a_shunned_artifact_is_gone_before_the_next_run(indexed, extroot):  # noqa: F811
    set_caps(indexed, nobody="o")
    with FossilServer(indexed, extroot) as server:
        [hit] = [h for h in search(server, "nightly cron keep-weeks")["hits"] if h["path"] == "docs/schedule.md"][:1]
        db = sqlite3.connect(indexed)
        db.execute("INSERT INTO shun(uuid, mtime) VALUES(?, 0)", (hit["hash"],))
        db.commit()
        db.close()
        data = search(server, "nightly cron keep-weeks", k=100)
        assert hit["hash"] not in json.dumps(data) and data["total"] == len(data["hits"])
