"""Who may read what, from the `user` table and the environment of an extension (SPEC section 8)."""

from __future__ import annotations

import sqlite3

import pytest
from forge import Forge

from vecsearch.fossil.access import _believed, visible_kinds

READ = {"doc", "code", "instruction", "media", "api", "checkin"}
ALL = READ | {"wiki", "technote", "ticket", "forum"}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Forge:
    return Forge(tmp_path_factory.mktemp("access"))


def users(site: Forge, **caps: str | None) -> sqlite3.Connection:
    """Exactly these users; one that is None does not exist."""
    site.sql("DELETE FROM user WHERE login<>'ann'")
    for login, cap in caps.items():
        if cap is not None:
            site.sql("INSERT INTO user(login, pw, cap) VALUES(?, 'x', ?)", login, cap)
    return sqlite3.connect(site.path)


def fullcap(site: Forge, login: str) -> str:
    """What the real fossil would put into FOSSIL_CAPABILITIES."""
    return site.fossil("sql", "-R", site.path, f"SELECT fullcap(cap) FROM user WHERE login='{login}';").strip().strip("'")


STRANGERS = [
    # nobody, anonymous, what a visitor who has not logged in may read
    ("", "jo2", set()),
    ("i", "", READ),
    ("o", "", READ),
    ("j", "o", {"wiki"}),
    ("jo", "", READ | {"wiki", "technote"}),
    ("k", "", {"wiki"}),
    ("f", "", set()),
    ("m", "", set()),
    ("r", "", {"ticket"}),
    ("w", "", {"ticket"}),
    ("n", "", set()),
    ("c", "", set()),
    ("2", "", {"forum"}),
    ("3", "", {"forum"}),
    ("4", "", {"forum"}),
    ("5", "", {"forum"}),
    ("6", "", {"forum"}),
    ("7", "", set()),
    ("a", "", ALL),
    ("s", "", ALL),
    ("hgzxybeplqtACD", "", set()),
    (None, "jors2", set()),
    (None, None, set()),
]


@pytest.mark.parametrize(("nobody", "anonymous", "expected"), STRANGERS)
def test_strangers_have_the_letters_of_nobody(site, nobody, anonymous, expected):
    db = users(site, nobody=nobody, anonymous=anonymous)
    assert visible_kinds(db, {"FOSSIL_CAPABILITIES": fullcap(site, "nobody")}) == expected
    db.close()


@pytest.mark.parametrize(("cap", "rows", "expected"), [
    ("u", {"reader": "o"}, READ),
    ("v", {"developer": "ei"}, READ),
    ("v", {"developer": "u", "reader": "r"}, {"ticket"}),
    ("u", {"reader": "vj", "developer": "u2"}, {"wiki", "forum"}),
    ("u", {"reader": None}, set()),
    ("", {"reader": "o"}, set()),
])
def test_roles_are_expanded(site, cap, rows, expected):
    db = users(site, nobody=cap, anonymous="", **rows)
    assert visible_kinds(db, {"FOSSIL_CAPABILITIES": fullcap(site, "nobody")}) == expected
    db.close()


@pytest.mark.parametrize(("bob", "expected"), [
    ("j", {"wiki", "forum"}),            # his own letter and that of anonymous
    ("u", {"ticket", "forum"}),          # reader's
    ("v", READ | {"wiki", "technote", "forum"}),
    ("a", ALL),
    ("s", ALL),
    ("", set()),                         # fossil would say the same for nobody: it may be anybody
])
def test_a_user_has_his_own_letters_and_those_of_anonymous(site, bob, expected):
    db = users(site, nobody="", anonymous="2", reader="r", developer="kio", bob=bob)
    environ = {"FOSSIL_USER": "bob", "FOSSIL_CAPABILITIES": fullcap(site, "bob")}
    assert visible_kinds(db, environ) == expected
    db.close()


@pytest.mark.parametrize("caps", ["s", "a", "ei", "dei", "v", "u", "ab", "ACDe", "5", "sx", "jvy", "bwz"])
@pytest.mark.parametrize(("nobody", "anonymous"), [("", ""), ("gjorz", "hmncz"), ("u", "v")])
def test_the_real_fossils_answer_is_recognised(site, caps, nobody, anonymous):
    """Ours equals fullcap() of the fossil that is installed, so that no user is taken for a stranger."""
    db = users(site, nobody=nobody, anonymous=anonymous, reader="kptw", developer="ei", bob=caps)
    said = fullcap(site, "bob")
    stranger = fullcap(site, "nobody")
    logins = dict(db.execute("SELECT login, cap FROM user"))
    assert _believed(logins, {"FOSSIL_USER": "bob", "FOSSIL_CAPABILITIES": said}) == ("bob" if set(said) - set("BC") != set(stranger) - set("BC") else "")
    db.close()


def test_a_name_that_is_not_the_visitors_gives_nothing(site):
    """FOSSIL_USER from the environment of the server comes with the capabilities of nobody."""
    db = users(site, nobody="j", anonymous="jo2", bob="ei")
    for name in ("ann", "bob", "root", "nobody", "", "BOB", "bob' OR '1'='1"):
        assert visible_kinds(db, {"FOSSIL_USER": name, "FOSSIL_CAPABILITIES": fullcap(site, "nobody")}) == {"wiki"}, name
    assert visible_kinds(db, {"FOSSIL_USER": "bob"}) == {"wiki"}
    assert visible_kinds(db, {"FOSSIL_USER": "bob", "FOSSIL_CAPABILITIES": "s"}) == {"wiki"}
    db.close()


def test_anonymous_has_both_rows(site):
    db = users(site, nobody="j", anonymous="o")
    assert visible_kinds(db, {"FOSSIL_USER": "anonymous", "FOSSIL_CAPABILITIES": "jo"}) == READ | {"wiki", "technote"}
    db.close()


def test_what_newer_versions_add_for_an_administrator_is_no_difference(site):
    """2.21 spells out b..z234567AD for `a`; later versions also C."""
    db = users(site, nobody="", anonymous="", bob="a")
    for said in ("abcdefghijklmnopqrtwz234567AD", "abcdefghijklmnopqrtwz234567ACD"):
        assert visible_kinds(db, {"FOSSIL_USER": "bob", "FOSSIL_CAPABILITIES": said}) == ALL
    db.close()


def test_an_unreadable_table_shows_nothing(tmp_path):
    db = sqlite3.connect(":memory:")
    assert visible_kinds(db, {"FOSSIL_USER": "ann", "FOSSIL_CAPABILITIES": "s"}) == frozenset()
    db.execute("CREATE TABLE user(login, cap)")
    assert visible_kinds(db, {"FOSSIL_CAPABILITIES": "s"}) == frozenset()
    db.execute("INSERT INTO user VALUES('nobody', NULL)")
    assert visible_kinds(db, {}) == frozenset()
    db.close()
