"""Other repositories' indexes: taken in whole or not at all, linked to their own site, shown to whom."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from forge import Forge
from serve import FossilServer
from travel import FILES, clone, index_site, make_site

from vecsearch import peers
from vecsearch.embed.hashing import Hashing
from vecsearch.errors import RepositoryError, StoreError, UsageError
from vecsearch.fossil import access
from vecsearch.fossil.repository import open_readonly
from vecsearch.search.query import parse
from vecsearch.search.run import search
from vecsearch.store import catalog, connection
from vecsearch.store import unversioned as rows
from vecsearch.types import KINDS
from vecsearch.web import create_app

BASE = "https://terns.example/site"


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> tuple[Path, Path]:
    """(ours, theirs): two indexed repositories that share a file; not to be changed."""
    folder = tmp_path_factory.mktemp("two")
    ours = Forge(folder / "ours")
    ours.user("nobody", "gjorz2")
    ours.commit({"docs/breeding.md": FILES["docs/breeding.md"], "docs/own.md": "# Gulls\n\nThis one is about gulls.\n"}, "ours")
    theirs = make_site(folder / "theirs")
    for forge in (ours, theirs):
        index_site(forge.path)
    return ours.path, theirs.path


@pytest.fixture(scope="module")
def cloned(originals, tmp_path_factory) -> Path:
    """A clone of theirs with unversioned files and without tables; not to be changed."""
    return clone(originals[1], tmp_path_factory.mktemp("clone"), "--unversioned")


@pytest.fixture
def copy(cloned, tmp_path) -> Path:
    return Path(shutil.copy(cloned, tmp_path / "copy.fossil"))


@pytest.fixture
def ours(originals, tmp_path) -> Path:
    return Path(shutil.copy(originals[0], tmp_path / "ours.fossil"))


@pytest.fixture
def theirs(originals, tmp_path) -> Path:
    return Path(shutil.copy(originals[1], tmp_path / "theirs.fossil"))


def hits(path: Path, words: str, kinds=KINDS, **options):
    db = open_readonly(path)
    try:
        return search(db, Hashing, parse(words, k=50, **options), kinds, "/here").hits
    finally:
        db.close()


def sql(path: Path, statement: str, *values: object) -> list[tuple]:
    db = sqlite3.connect(path)
    try:
        with db:
            return db.execute(statement, values).fetchall()
    finally:
        db.close()


def tables(path: Path) -> list[str]:
    """Everything that is our own, for comparison."""
    return [repr(row) for row in sql(path, "SELECT hash, kind, path, seq, text FROM fx_vec_chunk WHERE project='' ORDER BY 1, 4")]


def write(path: Path, change) -> None:
    db = connection.open_writable(path)
    with connection.transaction(db):
        change(db)
    db.close()


def test_the_same_file_in_two_projects_is_two_hits_and_each_opens_at_home(ours, theirs):
    peers.add(ours, "terns", str(theirs), base_url=f"{BASE}/")
    found = {hit.project: hit for hit in hits(ours, "ground nest eggs") if hit.path == "docs/breeding.md"}
    assert found.keys() == {"", "terns"}
    mine, peer = found[""], found["terns"]
    assert (peer.hash, peer.seq, peer.text, peer.lines, peer.title, peer.score) == (
        mine.hash, mine.seq, mine.text, mine.lines, mine.title, mine.score)
    tip = sql(theirs, "SELECT last_ckout FROM fx_vec_state")[0][0]
    assert peer.ci == tip and peer.url.startswith(f"{BASE}/doc/{tip}/docs/breeding.md")
    assert mine.url.startswith("/here/doc/") and mine.ci != tip


def test_the_filter_tells_projects_apart(ours, theirs):
    peers.add(ours, "terns", str(theirs))
    assert {hit.project for hit in hits(ours, "terns nest", project="terns")} == {"terns"}
    assert {hit.project for hit in hits(ours, "gulls nest", project="")} == {""}
    assert {hit.url for hit in hits(ours, "nest", project="terns")} == {""}  # nobody said where it stands


def test_only_what_anyone_may_read_there_is_taken(ours, theirs):
    sql(theirs, "UPDATE user SET cap='o' WHERE login='nobody'")
    peers.add(ours, "terns", str(theirs))
    kinds = {kind for (kind,) in sql(ours, "SELECT DISTINCT kind FROM fx_vec_chunk WHERE project='terns'")}
    assert kinds == {"doc", "code", "instruction", "media", "checkin"}
    peers.remove(ours, "terns")
    peers.add(ours, "terns", str(theirs), trusted=True)
    kinds = {kind for (kind,) in sql(ours, "SELECT DISTINCT kind FROM fx_vec_chunk WHERE project='terns'")}
    assert kinds >= {"wiki", "ticket", "forum", "technote"}


def test_here_a_visitor_needs_the_right_to_that_kind(ours, theirs):
    """Public there, not here: the peer's tickets are shown to no stranger of ours."""
    peers.add(ours, "terns", str(theirs))
    sql(ours, "UPDATE user SET cap='o' WHERE login IN ('nobody', 'anonymous')")
    db = open_readonly(ours)
    kinds = access.visible_kinds(db, {})
    db.close()
    assert {hit.kind for hit in hits(ours, "moult feathers wing", kinds)} <= {"doc", "code", "instruction", "media", "checkin"}
    assert "ticket" in {hit.kind for hit in hits(ours, "moult feathers wing")}


def test_the_menu_names_projects_only_to_whom_one_has_something(ours, theirs):
    sql(theirs, "UPDATE user SET cap='r' WHERE login='nobody'")
    peers.add(ours, "terns", str(theirs))  # nothing but tickets
    client = create_app(str(ours)).test_client()
    assert ">terns<" in client.get("/?q=moult").text
    sql(ours, "UPDATE user SET cap='o' WHERE login='nobody'")
    assert "terns<" not in client.get("/?q=moult").text


def test_what_is_shunned_there_since_its_last_run_is_not_taken(ours, theirs):
    hash_ = sql(theirs, "SELECT hash FROM fx_vec_source WHERE path='docs/migration.md'")[0][0]
    sql(theirs, "INSERT INTO shun(uuid, mtime) VALUES(?, 0)", hash_)
    peers.add(ours, "terns", str(theirs))
    assert hash_ not in {h for (h,) in sql(ours, "SELECT hash FROM fx_vec_source WHERE project='terns'")}


def test_another_model_is_refused_and_both_are_named(ours, theirs):
    sql(theirs, "UPDATE fx_vec_state SET model='ollama:nomic-embed-text', dim=768")
    with pytest.raises(StoreError, match=r"by ollama:nomic-embed-text \(768\), this repository by hash:char-128@1 \(128\)"):
        peers.add(ours, "terns", str(theirs))
    assert peers.listing(ours) == []


def test_update_takes_what_changed_and_remove_takes_all_away(tmp_path, ours):
    forge = make_site(tmp_path / "theirs")
    index_site(forge.path)
    before = tables(ours)
    peers.add(ours, "terns", str(forge.path))
    assert [(r.taken, r.moved, r.removed) for r in peers.update(ours)] == [(0, 0, 0)]
    forge.commit({"docs/migration.md": "# Migration\n\nNorth now.\n", "docs/licence.md": None}, "changes")
    forge.commit({"src/wing.py": None, "lib/wing.py": FILES["src/wing.py"]}, "moved")
    index_site(forge.path)
    report = peers.update(ours, ["terns"])[0]
    assert (report.taken, report.moved, report.removed, report.faults) == (3, 1, 2, [])  # a file, two check-ins
    paths = {hit.path for hit in hits(ours, "north now flap", project="terns")}
    assert {"docs/migration.md", "lib/wing.py"} <= paths and "src/wing.py" not in paths
    assert peers.remove(ours, "terns") > 10
    assert sql(ours, "SELECT count(*) FROM fx_vec_chunk WHERE project<>''") == [(0,)]
    assert sql(ours, "SELECT count(*) FROM fx_vec_embedding WHERE chunk_id NOT IN (SELECT id FROM fx_vec_chunk)") == [(0,)]
    assert tables(ours) == before and peers.listing(ours) == []


def test_a_peer_that_vanished_or_is_broken_loses_nothing(ours, theirs, vecsearch):
    peers.add(ours, "terns", str(theirs))
    held = sql(ours, "SELECT hash, seq, text, project FROM fx_vec_chunk ORDER BY project, hash, seq")
    theirs.unlink()
    done = vecsearch("peer", "update", "-R", ours)
    assert done.returncode == 1 and "there is no such file" in done.stderr and "what was taken before stays" in done.stderr
    theirs.write_bytes(b"SQLite format 3\0 cut off")
    assert "what was taken before stays" in peers.update(ours)[0].faults[0]
    assert sql(ours, "SELECT hash, seq, text, project FROM fx_vec_chunk ORDER BY project, hash, seq") == held


def test_our_own_index_run_keeps_peers_and_reuses_none_of_their_vectors(ours, theirs):
    peers.add(ours, "terns", str(theirs))
    taken = sql(ours, "SELECT count(*) FROM fx_vec_chunk WHERE project='terns'")
    assert sql(ours, "SELECT count(*) FROM fx_vec_detail d JOIN fx_vec_chunk c ON c.id=d.chunk_id WHERE c.project='terns' AND d.digest<>x''") == [(0,)]
    sql(ours, "DELETE FROM fx_vec_mark WHERE name='run'")
    index_site(ours)
    index_site(ours, rebuild=True)
    assert sql(ours, "SELECT count(*) FROM fx_vec_chunk WHERE project='terns'") == taken
    assert "docs/migration.md" not in rows_text(ours)


def rows_text(path: Path) -> str:
    db = open_readonly(path)
    try:
        return rows.read(db, catalog.NAME).decode()
    finally:
        db.close()


def test_over_http_it_is_the_same(ours, theirs, tmp_path):
    (tmp_path / "ext").mkdir()
    peers.add(ours, "file", str(theirs))
    with FossilServer(theirs, tmp_path / "ext") as server:
        report = peers.add(ours, "site", server.base)
        assert report.faults == []
        assert [(r.taken, r.faults) for r in peers.update(ours, ["site"])] == [(0, [])]
    facts = "hash, kind, path, seq & 65535, text, title, symbol, line_a, line_b, user, mtime, v"
    both = [sql(ours, f"SELECT {facts} FROM (SELECT c.*, d.title, d.symbol, d.line_a, d.line_b, d.user, d.mtime, e.v FROM fx_vec_chunk c"
                " JOIN fx_vec_detail d ON d.chunk_id=c.id JOIN fx_vec_embedding e ON e.chunk_id=c.id WHERE project=?) ORDER BY 1, 4", name)
            for name in ("file", "site")]
    assert both[0] == both[1] and len(both[0]) > 15
    assert {hit.url.split("/doc/")[0] for hit in hits(ours, "terns nest", project="site", kinds={"doc"})} == {server.base}


def test_a_site_behind_a_login_says_so(ours, theirs, tmp_path):
    sql(theirs, "UPDATE user SET cap='' WHERE login IN ('nobody', 'anonymous')")
    (tmp_path / "ext").mkdir()
    with FossilServer(theirs, tmp_path / "ext") as server, pytest.raises(StoreError, match="asks for a login"):
        peers.add(ours, "site", server.base)


def test_a_login_in_an_address_is_in_no_message(ours, theirs, tmp_path, vecsearch):
    with pytest.raises(StoreError, match="http://127.0.0.1:9/uv/") as unheard:
        peers.add(ours, "site", "http://ann:zqsecret@127.0.0.1:9/")
    (tmp_path / "ext").mkdir()
    with FossilServer(theirs, tmp_path / "ext") as server:
        peers.add(ours, "site", server.base.replace("//", "//ann:zqsecret@"))
    said = vecsearch("peer", "list", "-R", ours).stdout + vecsearch("peer", "update", "-R", ours).stderr
    assert "zqsecret" not in said + str(unheard.value) and "127.0.0.1" in said


def test_half_a_sync_is_named_and_the_rest_taken(ours, copy):
    """A clone without tables, one of whose blobs is missing and one damaged."""
    listed = catalog.decode(rows_text(copy).encode())
    gone, damaged = (f"vec/{hash_}.bin" for hash_ in sorted(listed.artifacts)[:2])
    write(copy, lambda db: (rows.remove(db, gone), rows.put(db, damaged, b"VE01 and nonsense")))
    report = peers.add(ours, "terns", str(copy))
    assert [fault.split(": ")[1] for fault in report.faults] == [gone, damaged]
    assert report.taken > 8


def test_a_peers_hit_is_found_by_each_of_its_paths(ours, theirs, copy):
    """tools/wing.py is the same content as src/wing.py: from tables and from files alike."""
    for name, location in (("tables", theirs), ("files", copy)):
        peers.add(ours, name, str(location))
        assert {hit.path for hit in hits(ours, f"flap path:tools project:{name}")} == {"src/wing.py"}
        peers.remove(ours, name)


@pytest.mark.parametrize("change", [
    {"format": 2}, {"dim": 0}, {"dim": True}, {"dim": "128"}, {"artifacts": []}, {"tips": {"trunk": 1}}, {"artifacts": {"ab": {"kind": "spell", "path": None}}},
    {"artifacts": {"ab": {"kind": "doc", "path": 3}}}, {"packs": {"vec/checkins-2026-03.pack": "00"}},
])
def test_a_catalog_that_is_not_as_it_must_be_is_refused(ours, copy, change):
    facts = json.loads(rows_text(copy)) | change
    write(copy, lambda db: rows.put(db, catalog.NAME, json.dumps(facts).encode()))
    with pytest.raises(StoreError, match="vec/"):
        peers.add(ours, "terns", str(copy))
    assert peers.listing(ours) == [] and sql(ours, "SELECT count(*) FROM fx_vec_source WHERE project<>''") == [(0,)]


def test_names_that_cannot_be_are_refused(ours, theirs):
    peers.add(ours, "terns", str(theirs))
    for name, base in (("terns", ""), ("", ""), ("a b", ""), ("x", "javascript:alert(1)")):
        with pytest.raises(UsageError):
            peers.add(ours, name, str(theirs), base_url=base)
    with pytest.raises(UsageError, match="is this repository itself"):
        peers.add(ours, "self", str(ours))
    with pytest.raises(UsageError, match="no peer gulls"):
        peers.remove(ours, "gulls")
    with pytest.raises(RepositoryError):
        peers.add(ours, "y", str(theirs.parent / "none.fossil"))
