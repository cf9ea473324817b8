"""Manifests of remote media: right ones, broken ones, and their transcripts."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path

import pytest
from looking import forge, look  # noqa: F401

from vecsearch.embed.hashing import Hashing
from vecsearch.errors import VecsearchError
from vecsearch.fossil.corpus import media
from vecsearch.fossil.repository import open_readonly
from vecsearch.fossil.visible import visible
from vecsearch.index import index
from vecsearch.store import connection, settings

GOOD = {"uri": "https://example.org/a.mp4", "sha3": "a" * 64, "mime": "video/mp4", "bytes": 5, "transcript": "media/a.txt"}


@pytest.mark.parametrize(("change", "problem"), [
    ({}, ""),
    ({"sha3": "short"}, '"sha3" makes no sense'),
    ({"bytes": "5"}, '"bytes" is no number'),
    ({"bytes": True}, '"bytes" is no number'),
    ({"bytes": -1}, '"bytes" makes no sense'),
    ({"mime": "video"}, '"mime" makes no sense'),
    ({"uri": " "}, '"uri" makes no sense'),
    ({"transcript": "media/none.txt"}, "no transcript media/none.txt"),
])
def test_media_manifests(forge, look, change, problem):  # noqa: F811
    forge.commit({"media/talks/a.json": json.dumps(GOOD | change), "media/a.txt": "Welcome to the talk.\n"})
    seen = look(forge)
    [source] = seen.of("media")
    document = seen.document(source)
    assert [s.kind for s in seen.sources if s.path] == ["media"]
    assert document.text == ("" if problem else "Welcome to the talk.\n")
    assert document.skipped == (f"broken manifest: {problem}" if problem else "")


def test_a_new_transcript_is_a_new_source_of_the_same_manifest(forge, look):  # noqa: F811
    forge.commit({"media/a.json": json.dumps(GOOD), "media/a.txt": "one\n", "media/b.json": "[1]", "media/c.json": "{"})
    before = look(forge)
    assert [before.document(s).skipped for s in before.of("media")] == ["", "broken manifest: not a JSON object", "broken manifest: not JSON"]
    forge.commit({"media/a.txt": "two\n"})
    after = look(forge)
    assert after.of("media")[0].hash == before.of("media")[0].hash
    assert after.of("media")[0].fingerprint != before.of("media")[0].fingerprint
    assert after.file("media/a.json").text == "two\n"


def test_a_manifest_is_hidden_with_its_transcript(forge, look):  # noqa: F811
    forge.commit({"media/a.json": json.dumps(GOOD), "media/a.txt": "to be shunned\n", "media/b.json": json.dumps(GOOD | {"transcript": "media/b.txt"}),
                  "media/b.txt": "fine\n"})
    seen = look(forge)
    keys = [("media", source.hash) for source in seen.of("media")]
    assert visible(seen.db, keys) == set(keys)
    forge.shun(forge.hash_of("to be shunned\n"), rebuild=False)
    for step in (lambda: None, forge.settle):
        step()
        again = look(forge)
        assert visible(again.db, keys) == {keys[1]}
        assert again.file("media/a.json").skipped == "broken manifest: no transcript media/a.txt"


@pytest.mark.parametrize("branch", ["", "side"])
@pytest.mark.parametrize("edited", [False, True])
def test_a_transcript_that_was_indexed_is_hidden_whatever_is_at_the_tip_now(forge, branch, edited):  # noqa: F811
    """Between the shun and the next run the index still has the words."""
    forge.commit({"media/a.json": json.dumps(GOOD), "media/a.txt": "zqspoken words\n"}, branch=branch)
    db = connection.open_writable(forge.path)
    settings.store(db, "branch", branch or None)
    db.close()
    index(forge.path, lambda settings: Hashing())
    if edited:
        forge.commit({"media/a.txt": "other words\n"})
    [key] = forge.sql("SELECT kind, hash FROM fx_vec_source WHERE kind='media'")
    with closing(open_readonly(forge.path)) as db:
        assert visible(db, [key]) == {key}
    forge.shun(forge.hash_of("zqspoken words\n"), rebuild=False)
    with closing(open_readonly(forge.path)) as db:
        assert visible(db, [key]) == set()


def test_a_download_is_verified(tmp_path: Path):
    content = b"the asset"
    asset = media.parse(json.dumps(GOOD | {"bytes": len(content), "sha3": hashlib.sha3_256(content).hexdigest().upper()}).encode())
    file = tmp_path / "a.mp4"
    file.write_bytes(content)
    media.verify(asset, file)
    file.write_bytes(b"the asseT")
    with pytest.raises(VecsearchError, match="SHA3-256"):
        media.verify(asset, file)
    file.write_bytes(b"short")
    with pytest.raises(VecsearchError, match="has 5 bytes, the manifest says 9"):
        media.verify(asset, file)
