"""The index travels: what a clone imports answers as its source does, without a model."""

from __future__ import annotations

import shutil
import socket
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from forge import Forge
from travel import answers, clone, index_site, make_site, sync, unversioned

from vecsearch import embed
from vecsearch import index as indexing
from vecsearch.index import embedding
from vecsearch.embed.hashing import Hashing
from vecsearch.errors import EmbedError, StoreError
from vecsearch.fossil.repository import change_mark, open_readonly
from vecsearch.library import forget_library, import_library
from vecsearch.publish import blob_name
from vecsearch.publish.outgoing import Outgoing
from vecsearch.store import catalog, connection, schema, ve01
from vecsearch.store import unversioned as rows
from vecsearch.transfer import import_, normalize
from vecsearch.types import KINDS

MODEL = "hash:char-128@1"


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    """An indexed site; not to be changed."""
    path = make_site(tmp_path_factory.mktemp("site")).path
    index_site(path)
    return path


@pytest.fixture(scope="module")
def cloned(original, tmp_path_factory) -> Path:
    """A clone with unversioned files, nothing imported; not to be changed."""
    return clone(original, tmp_path_factory.mktemp("clone"), "--unversioned")


@pytest.fixture
def site(original, tmp_path) -> Path:
    return Path(shutil.copy(original, tmp_path / "site.fossil"))


@pytest.fixture
def copy(cloned, tmp_path) -> Path:
    return Path(shutil.copy(cloned, tmp_path / "copy.fossil"))


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    """Whoever asks for an embedder or connects anywhere during an import fails."""

    def refuse(*args, **options):
        raise AssertionError("a model was asked for")

    monkeypatch.setattr(embed, "get", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def write(path: Path, change) -> None:
    """Run change(db) in one transaction."""
    db = connection.open_writable(path)
    with connection.transaction(db):
        change(db)
    db.close()


def stored(path: Path, name: str) -> bytes:
    db = open_readonly(path)
    data = rows.read(db, name)
    db.close()
    return data


def listed(path: Path) -> catalog.Catalog:
    return catalog.decode(stored(path, catalog.NAME))


def hash_by_path(path: Path, name: str) -> str:
    return next(hash_ for hash_, artifact in listed(path).artifacts.items() if artifact.path == name)


def test_a_clone_answers_as_its_source(original, copy):
    report = import_(copy)
    assert (report.refused, report.stale, report.missing, report.model) == ([], [], {}, MODEL)
    found = answers(copy)
    assert found == answers(original)
    assert {hit["kind"] for answer in found for hit in answer["hits"]} >= {
        "doc", "code", "instruction", "media", "wiki", "technote", "ticket", "forum", "checkin"}
    assert unversioned(copy) == unversioned(original)


def test_after_an_import_there_is_nothing_to_do(copy):
    import_(copy)
    before = copy.read_bytes()
    assert import_(copy).unchanged and index_site(copy).unchanged
    assert copy.read_bytes() == before


def test_change_delete_rename_and_sync_again(tmp_path):
    forge = make_site(tmp_path / "site")
    index_site(forge.path)
    (tmp_path / "copy").mkdir()
    copy = clone(forge.path, tmp_path / "copy", "--unversioned")
    import_(copy)
    forge.commit({"docs/migration.md": "# Migration\n\nA long way south, and back again in May.\n"}, "route changed", user="bob")
    forge.commit({"docs/licence.md": None}, "no licence")
    forge.commit({"docs/breeding.md": None, "docs/nesting.md": "# Breeding\n\n## Nest\n\nTerns nest on open ground.\n\n## Eggs\n\n"
                  "Two or three eggs.\n"}, "renamed")
    forge.wiki("Food", "# Food\n\nSand eels only.\n")
    forge.ticket("Wind vane broken", "Flag the wind.")
    index_site(forge.path)
    sync(forge.path, copy)
    report = import_(copy)
    assert (report.refused, report.stale, report.missing) == ([], [], {})
    assert answers(copy) == answers(forge.path)
    assert unversioned(copy) == unversioned(forge.path)
    assert index_site(copy).unchanged


def test_lost_tables_come_back(original, site):
    before = unversioned(site)
    write(site, schema.drop)
    import_(site)
    assert answers(site) == answers(original)
    assert index_site(site).embedded == 0 and unversioned(site) == before


def test_without_a_catalog_only_the_models_name_is_asked_for(original, copy):
    write(copy, lambda db: rows.remove(db, catalog.NAME))
    import_(copy, model=MODEL)
    assert index_site(copy).embedded == 0  # it only measures what a catalog would have told
    assert answers(copy) == answers(original)


def test_blobs_cut_by_another_program_are_taken_with_their_lines(original, copy):
    """The seed's program cuts otherwise, names the project, and writes no catalog."""
    path = "docs/breeding.md"
    texts = ["## Nest\n\nTerns nest\non open ground.", "Two or three eggs."]
    vectors = Hashing().embed_documents(texts)

    def replace_blob(db):
        records = [ve01.Record(i, "forge", text, vector) for i, (text, vector) in enumerate(zip(texts, vectors))]
        rows.put(db, blob_name(hash_by_path(original, path)), ve01.encode(records))
        rows.remove(db, catalog.NAME)

    write(copy, replace_blob)
    assert import_(copy, model=MODEL).stale == []
    hits = [hit for answer in answers(copy) for hit in answer["hits"] if hit["path"] == path]
    assert {(hit["text"], tuple(hit["lines"]), hit["title"]) for hit in hits} == {
        (texts[0], (3, 6), "Breeding > Nest"), (texts[1], (9, 9), "Breeding > Nest")}


def test_a_malformed_blob_is_refused_whole_and_named(original, copy, vecsearch):
    name = blob_name(hash_by_path(original, "docs/breeding.md"))
    damaged = stored(original, name)[:-3]
    write(copy, lambda db: (rows.put(db, name, damaged), rows.remove(db, catalog.NAME)))
    done = vecsearch("import", "-R", copy, "--model", MODEL)
    assert done.returncode == 1 and done.stderr.startswith(f"vecsearch: {name}: ") and "runs over the end" in done.stderr
    paths = {hit["path"] for answer in answers(copy) for hit in answer["hits"]}
    assert "docs/migration.md" in paths and "docs/breeding.md" not in paths


def test_a_blob_that_the_catalog_does_not_mean_is_refused_and_named(original, copy):
    """Half a sync: the blob is newer than the catalog."""
    name = blob_name(hash_by_path(original, "docs/breeding.md"))
    write(copy, lambda db: rows.put(db, name, stored(original, name) + b"?"))
    report = import_(copy)
    assert report.missing == {} and [fault.split(":")[0] for fault in report.refused] == [name]
    assert "not the version that vec/index.json lists" in report.refused[0]


@pytest.mark.parametrize("catalogued", [True, False])
def test_a_bit_that_flipped_in_a_vector_is_noticed(original, copy, catalogued):
    """The lowest bit of the last number: still a unit vector, still listed, but not what the table says."""
    name = blob_name(hash_by_path(original, "docs/breeding.md"))
    data = bytearray(stored(original, name))
    data[-4] ^= 1
    change = "UPDATE unversioned SET content=?, encoding=0 WHERE name=?"
    write(copy, lambda db: (db.execute(change, (bytes(data), name)), catalogued or rows.remove(db, catalog.NAME)))
    report = import_(copy, model=MODEL)
    assert len(report.refused) == 1 and report.refused[0].startswith(f"{name}: damaged")
    assert "docs/breeding.md" not in {hit["path"] for answer in answers(copy) for hit in answer["hits"]}


def test_a_rebuild_of_the_clone_leaves_the_index_current(tmp_path):
    """`fossil rebuild` numbers tags anew, here with gaps that amendments left."""
    forge = make_site(tmp_path / "site")
    for comment in ("once", "twice"):
        forge.fossil("amend", "trunk", "-m", comment)
    index_site(forge.path)
    before = change_mark(open_readonly(forge.path))
    forge.settle()
    assert change_mark(open_readonly(forge.path)) == before
    assert index_site(forge.path).unchanged


def test_a_blob_of_an_older_version_is_stale_and_named(tmp_path):
    forge = make_site(tmp_path / "site")
    index_site(forge.path)
    (tmp_path / "copy").mkdir()
    copy = clone(forge.path, tmp_path / "copy", "--unversioned")
    uuid = forge.one("SELECT tkt_uuid FROM ticket")
    forge.ticket_change(uuid, comment="The wing span is right after all.")
    sync(forge.path, copy, files=False)
    report = import_(copy)
    assert report.stale == [f"{blob_name(uuid)}: its text is not that of the artifact"]
    assert uuid not in {hit["hash"] for answer in answers(copy) for hit in answer["hits"]}


def test_another_model_is_named_and_taken_only_on_demand(copy):
    import_(copy)
    write(copy, lambda db: db.execute("UPDATE fx_vec_state SET model='other', dim=3"))
    with pytest.raises(StoreError, match=r"by other \(3\), the files under vec/ are by hash:char-128@1 \(128\)"):
        import_(copy)
    assert import_(copy, replace_index=True).artifacts > 10


def test_nothing_to_import_is_said(tmp_path):
    with pytest.raises(StoreError, match="nothing to import"):
        import_(Forge(tmp_path / "empty").path)


def test_settings_that_shape_the_index_come_along(tmp_path):
    forge = make_site(tmp_path / "site")
    write(forge.path, lambda db: set_settings(db, {"ignore-glob": "AGENTS.md", "chunk-chars": "200"}))
    index_site(forge.path)
    (tmp_path / "copy").mkdir()
    copy = clone(forge.path, tmp_path / "copy", "--unversioned")
    assert import_(copy).missing == {}
    assert answers(copy) == answers(forge.path)


def set_settings(db: sqlite3.Connection, values: dict[str, str]) -> None:
    schema.create(db)
    for name, value in values.items():
        db.execute("INSERT OR REPLACE INTO fx_vec_config VALUES(?, ?)", (name, value))


def test_normalize_makes_old_blobs_and_vectors_right_and_then_nothing(original, site):
    name = blob_name(hash_by_path(original, "docs/breeding.md"))
    right = stored(original, name)

    def make_old(db):
        records = [ve01.Record(r.seq, r.project, r.text, r.vector * 3) for r in ve01.decode(right, 128, name)]
        rows.put(db, name, ve01.encode(records)[4:])
        for chunk_id, v in db.execute("SELECT chunk_id, v FROM fx_vec_embedding LIMIT 5").fetchall():
            db.execute("UPDATE fx_vec_embedding SET v=? WHERE chunk_id=?", ((np.frombuffer(v, "<f4") * 2).tobytes(), chunk_id))

    write(site, make_old)
    report = normalize(site)
    assert (report.vectors, report.blobs, report.refused) == (5, 1, [])
    was, now = ve01.decode(right, 128, name), ve01.decode(stored(site, name), 128, name)
    assert [r.text for r in now] == [r.text for r in was]
    assert np.allclose([r.vector for r in now], [r.vector for r in was], atol=1e-7)
    before = site.read_bytes()
    assert (normalize(site).vectors, normalize(site).blobs) == (0, 0) and site.read_bytes() == before
    write(site, schema.drop)
    assert import_(site).missing == {}


def test_libraries_come_along(site, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/nests.py").write_text('def count_nests(area):\n    """Count the nests of an area."""\n    return len(area)\n')
    import_library(site, "nests", str(tmp_path / "lib"), "https://nests.example/{name}", lambda settings: Hashing())
    index_site(site)
    copy = clone(site, tmp_path, "--unversioned")
    import_(copy)
    assert answers(copy) == answers(site)
    assert "https://nests.example/nests.count_nests" in {hit["url"] for answer in answers(copy) for hit in answer["hits"]}
    assert import_(copy).unchanged
    forget_library(site, "nests")
    index_site(site)
    sync(site, copy)
    import_(copy)
    assert answers(copy) == answers(site)


class Failing(Hashing):
    """A provider that goes away after so many batches."""

    def __init__(self, batches: int, model: str = MODEL):
        self.left, self.model = batches, model

    def embed_documents(self, texts):
        self.left -= 1
        if self.left < 0:
            raise EmbedError("test", "gone")
        return super().embed_documents(texts)


def test_tables_and_files_are_written_in_one_transaction(tmp_path, monkeypatch):
    site = make_site(tmp_path / "site").path
    monkeypatch.setattr(embedding, "BATCH_ARTIFACTS", 3)
    with pytest.raises(EmbedError):
        indexing.index(site, lambda settings: Failing(3))
    db = open_readonly(site)
    files = {name: rows.read(db, name) for name in rows.files(db)}
    made = Outgoing(db, MODEL, KINDS)
    assert files == {blob_name(hash_): made.blob(hash_) for hash_ in made.hashes()} and len(files) > 5
    db.close()
    index_site(site)
    assert len(listed(site).artifacts) > len(files)


def test_a_rebuild_by_another_model_that_fails_lists_no_blob_of_either(site, monkeypatch):
    monkeypatch.setattr(embedding, "BATCH_ARTIFACTS", 3)
    with pytest.raises(EmbedError):
        indexing.index(site, lambda settings: Failing(2, "hash:other"), rebuild=True)
    catalog_now = listed(site)
    assert (catalog_now.model, catalog_now.artifacts, catalog_now.packs) == ("hash:other", {}, {})
    indexing.index(site, lambda settings: Failing(99, "hash:other"), rebuild=True)
    assert listed(site).model == "hash:other" and len(listed(site).artifacts) > 10
