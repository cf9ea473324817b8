"""What is published: only what anybody may read, withdrawn when that changes, acceptable to Fossil."""

from __future__ import annotations

import struct
import time
import urllib.request
import zlib
from pathlib import Path

import pytest
from forge import Forge
from serve import FossilServer
from travel import fossil, index_site, make_site, unversioned

from vecsearch.config import default_settings
from vecsearch.fossil.repository import open_readonly
from vecsearch.publish import facts, hash_of, is_pack
from vecsearch.store import catalog, connection
from vecsearch.store import unversioned as rows
from vecsearch.types import KINDS


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Forge:
    """A site without an index; not to be changed."""
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def site(original, tmp_path) -> Forge:
    return original.copy(tmp_path / "site.fossil")


def published(path: Path) -> set[str]:
    """The kinds that lie in unversioned files."""
    db = open_readonly(path)
    try:
        content = rows.read(db, catalog.NAME)
        found = {artifact.kind for artifact in catalog.decode(content).artifacts.values()} if content else set()
        return found | ({"checkin"} if any(map(is_pack, rows.files(db))) else set())
    finally:
        db.close()


def configure(path: Path, choice: str, **others: str) -> None:
    from vecsearch.store.settings import store

    db = connection.open_writable(path)
    with connection.transaction(db):
        for name, value in {"publish": choice, **others}.items():
            store(db, name, value)
    db.close()


FILES = {"doc", "code", "instruction", "media", "checkin"}


@pytest.mark.parametrize(("nobody", "anonymous", "kinds"), [
    ("o", "", FILES),
    ("ojr2", "", FILES | {"wiki", "technote", "ticket", "forum"}),
    ("oj", "r2", FILES | {"wiki", "technote"}),
    ("jr2", "o", {"wiki", "ticket", "forum"}),
    ("", "ojr2", set()),
])
def test_only_what_needs_no_login_is_published(site, nobody, anonymous, kinds):
    site.user("nobody", nobody)
    site.user("anonymous", anonymous)
    index_site(site.path)
    assert published(site.path) == kinds


def test_why_the_rule_is_so_strict(site, tmp_path):
    """Fossil hands an unversioned file to whoever names it, whatever the capabilities say."""
    site.user("nobody", "ojr2")
    index_site(site.path)
    name = next(filter(hash_of, unversioned(site.path)))
    for login in ("nobody", "anonymous"):
        site.user(login, "")
    cards = f"pragma client-version 22100 20230101 000000\nuvgimme {name}\n".encode()
    (tmp_path / "ext").mkdir()
    with FossilServer(site.path, tmp_path / "ext") as server:
        body = struct.pack(">I", len(cards)) + zlib.compress(cards)
        request = urllib.request.Request(f"{server.base}/xfer", body, {"Content-Type": "application/x-fossil"})
        with urllib.request.urlopen(request, timeout=30) as reply:
            raw = reply.read()
            assert b"VE01" in (zlib.decompress(raw[4:]) if reply.headers["Content-Type"] == "application/x-fossil" else raw)
        assert "/login" in server.get(f"/uv/{name}")[2]


def test_a_catalog_without_files_tells_nothing_of_files(site):
    """Neither branch nor check-in, nor the globs of what is not indexed."""
    site.user("nobody", "j")
    configure(site.path, "auto", **{"ignore-glob": "secret-plans/*"})
    index_site(site.path)
    db = open_readonly(site.path)
    content = rows.read(db, catalog.NAME).decode()
    db.close()
    assert catalog.decode(content.encode()).artifacts and "secret-plans" not in content
    assert (catalog.decode(content.encode()).checkin, catalog.decode(content.encode()).tips) == ("", {})


@pytest.mark.parametrize(("left", "kinds"), [("o", FILES), ("j", {"wiki"}), ("2", {"forum"}), ("r", {"ticket"}), ("", set())])
def test_what_is_closed_later_is_withdrawn_by_the_next_run(site, left, kinds):
    site.user("nobody", "ojr2")
    index_site(site.path)
    held = unversioned(site.path)
    site.user("nobody", left)
    index_site(site.path)
    assert published(site.path) == kinds
    markers = {name: facts for name, facts in unversioned(site.path).items() if facts[1] is None}
    assert markers and all(size == 0 and mtime > held[name][0] for name, (mtime, _, size) in markers.items())


def test_the_admin_decides_otherwise(site):
    site.user("nobody", "o")
    configure(site.path, "all")
    index_site(site.path)
    assert published(site.path) == set(KINDS) - {"api"}
    configure(site.path, "none")
    index_site(site.path)
    assert published(site.path) == set()
    assert all(hash_ is None for _, hash_, _ in unversioned(site.path).values())


def test_a_clone_leaves_what_it_received_alone(site):
    """It neither overwrites nor prunes what another repository publishes, unless told to."""
    index_site(site.path)
    site.sql("UPDATE unversioned SET rcvid=7")
    before = unversioned(site.path)
    configure(site.path, "none")
    index_site(site.path)
    configure(site.path, "auto")
    site.user("nobody", "")
    index_site(site.path)
    assert unversioned(site.path) == before
    db = open_readonly(site.path)
    assert "another repository" in facts(db, default_settings())["doc"]
    db.close()
    site.user("nobody", "o")
    configure(site.path, "public")
    index_site(site.path)
    assert published(site.path) == FILES


def test_what_is_shunned_leaves_no_byte_of_its_vectors(tmp_path):
    site = make_site(tmp_path / "own")
    secret = "The password of the island is heron."
    hash_ = site.wiki("Secret", secret)
    index_site(site.path)
    assert hash_ in {hash_of(name) for name, (_, known, _) in unversioned(site.path).items() if known}
    site.shun(hash_)
    index_site(site.path)
    assert unversioned(site.path)[f"vec/{hash_}.bin"][1:] == (None, 0)
    db = open_readonly(site.path)
    assert hash_.encode() not in rows.read(db, catalog.NAME)
    db.close()
    assert b"password of the island" not in site.path.read_bytes()


def test_an_unchanged_tip_changes_no_unversioned_file(site):
    index_site(site.path)
    before = unversioned(site.path)
    site.sql("DELETE FROM fx_vec_mark WHERE name='run'")
    index_site(site.path)
    index_site(site.path, rebuild=True)
    assert unversioned(site.path) == before


def test_fossil_accepts_what_is_written(site, tmp_path):
    index_site(site.path)
    live = {name: facts for name, facts in unversioned(site.path).items() if facts[1]}
    assert set(fossil(tmp_path, "uv", "ls", "-R", site.path).split()) == live.keys()
    assert fossil(tmp_path, "uv", "cat", catalog.NAME, "-R", site.path).startswith('{"artifacts":{')
    fossil(tmp_path, "uv", "touch", catalog.NAME, "-R", site.path)
    fossil(tmp_path, "rebuild", site.path)
    assert {n: f[1:] for n, f in unversioned(site.path).items()} == {n: f[1:] for n, f in live.items()}
    assert "vec/index.json" in fossil(tmp_path, "sql", "-R", site.path, "SELECT name FROM unversioned")


@pytest.mark.parametrize(("policy", "digits"), [("0", 40), ("1", 40), ("2", 64), ("4", 64)])
def test_files_are_named_by_the_repositorys_hash_policy(site, tmp_path, policy, digits):
    site.setting("hash-policy", policy)
    index_site(site.path)
    (tmp_path / "x").write_text("x")
    fossil(tmp_path, "uv", "add", tmp_path / "x", "--as", "x", "-R", site.path)
    assert {len(hash_) for _, hash_, _ in unversioned(site.path).values()} == {digits}


def test_two_changes_within_a_second_are_told_apart(site, monkeypatch):
    """A sync compares times first; of two contents with the same time it keeps the greater hash."""
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.5)
    db = connection.open_writable(site.path)
    times = []
    for act in (lambda: rows.put(db, "vec/t.bin", b"one"), lambda: rows.put(db, "vec/t.bin", b"two"),
                lambda: rows.remove(db, "vec/t.bin"), lambda: rows.put(db, "vec/t.bin", b"two")):
        assert act()
        times.append(db.execute("SELECT mtime FROM unversioned WHERE name='vec/t.bin'").fetchone()[0])
    assert not rows.put(db, "vec/t.bin", b"two")
    db.close()
    assert times == [1_800_000_000 + i for i in range(4)]


def test_status_says_what_is_published_and_why_not(site, vecsearch):
    site.user("nobody", "oj")
    index_site(site.path)
    lines = vecsearch("status", "-R", site.path).stdout.splitlines()
    assert next(line for line in lines if line.startswith("published")).split(maxsplit=1)[1].startswith("instruction, media, doc, code, wiki, technote")
    assert next(line for line in lines if line.startswith("not so")) == (
        "not so      ticket, forum: a visitor who is not logged in may not read it, and anyone can read unversioned files")


def test_a_file_that_somebody_overwrote_is_written_anew(site):
    index_site(site.path)
    before = {name: facts[1:] for name, facts in unversioned(site.path).items()}
    db = connection.open_writable(site.path)
    for name in list(before)[:3]:
        rows.put(db, name, b"pushed by somebody else")
    rows.remove(db, list(before)[3])
    db.close()
    site.sql("UPDATE fx_vec_mark SET value='' WHERE name='run'")
    index_site(site.path)
    assert {name: facts[1:] for name, facts in unversioned(site.path).items()} == before
