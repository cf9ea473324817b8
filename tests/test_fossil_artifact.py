"""Artifacts: our bytes are fossil's bytes, and whatever is wrong with one is named."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import zlib
from contextlib import closing

import pytest
from forge import Forge

from vecsearch.errors import ArtifactError
from vecsearch.fossil import artifact
from vecsearch.fossil.repository import open_readonly


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> Forge:
    """Twelve versions of two files: fossil stores all but the newest as deltas."""
    forge = Forge(tmp_path_factory.mktemp("versions"))
    noise = random.Random(1)
    data = bytearray(noise.randbytes(20000))
    lines = [f"line {n}\n" for n in range(400)]
    for version in range(12):
        lines[noise.randrange(400)] = f"changed in version {version}\n"
        data[noise.randrange(20000)] = version
        forge.commit({"text.txt": "".join(lines), "data.bin": bytes(data), f"empty{version % 2}": b""}, f"version {version}")
    forge.fossil("rebuild", "--compress", forge.path)
    return forge


@pytest.fixture
def broken(versions, tmp_path) -> Forge:
    """A copy that may be damaged."""
    artifact.forget()
    return versions.copy(tmp_path / "copy.fossil")


def a_delta(forge: Forge) -> tuple[int, int, str]:
    """(rid, rid of its base, hash) of some delta."""
    return forge.sql("SELECT d.rid, d.srcid, b.uuid FROM delta d JOIN blob b USING (rid) ORDER BY d.rid LIMIT 1")[0]


def read(forge: Forge, rid: int) -> bytes:
    db = open_readonly(forge.path)
    try:
        return artifact.read(db, rid)
    finally:
        db.close()


def test_every_artifact_is_what_fossil_prints(versions):
    rows = versions.sql("SELECT rid, uuid FROM blob")
    assert versions.one("SELECT count(*) FROM delta") >= 20
    db = open_readonly(versions.path)
    for rid, hash_ in rows:
        printed = versions.fossil("artifact", hash_, "-R", versions.path, text=False)
        assert artifact.read(db, rid) == printed
        assert artifact.read_hash(db, hash_) == printed
    db.close()


def test_sha1_names_are_proved_too(tmp_path):
    forge = Forge(tmp_path)
    forge.fossil("hash-policy", "sha1")
    forge.commit({"a.txt": "old times"})
    db = open_readonly(forge.path)
    assert len(forge.one("SELECT uuid FROM blob WHERE size=9")) == 40
    assert artifact.read(db, forge.one("SELECT rid FROM blob WHERE size=9")) == b"old times"
    db.close()


def pack(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + zlib.compress(content)


@pytest.mark.parametrize(("content", "message"), [
    (pack(b"something else"), "its content has the hash"),
    (pack(b"x" * 100)[:12], "truncated"),
    ((5).to_bytes(4, "big") + zlib.compress(b"y" * 100000), "promised"),
    (b"\0\0\0\5not zlib", "cannot be decompressed"),
    (b"", "truncated"),
])
def test_damaged_content_is_named(broken, content, message):
    rid, hash_ = broken.sql("SELECT rid, uuid FROM blob WHERE rid NOT IN (SELECT rid FROM delta) AND size>100 LIMIT 1")[0]
    broken.sql("UPDATE blob SET content=? WHERE rid=?", content, rid)
    with pytest.raises(ArtifactError, match=f"{hash_}: .*({message})"):
        read(broken, rid)


@pytest.mark.parametrize(("delta", "message"), [
    (b"5\n5@0,", "it has no end"),
    (b"5\n5:hello0;", "checksum"),
    (b"6\n5:hello1wR;", "promised"),
    (b"4\n5:hello0;", "promised"),
    (b"5\n5@~~~~,0;", "beyond the end of its base"),
    (b"5\n~~:hello0;", "beyond its own end"),
    (b"5\n5?hello0;", "unknown command"),
    (b"5 5:hello0;", "no newline"),
    (b"", "no newline"),
])
def test_a_bad_delta_is_named(broken, delta, message):
    rid, _, hash_ = a_delta(broken)
    broken.sql("UPDATE blob SET content=? WHERE rid=?", pack(delta), rid)
    with pytest.raises(ArtifactError, match=f"{hash_}: bad delta: .*{message}"):
        read(broken, rid)


def test_a_circle_of_deltas_ends(broken):
    rid, base, hash_ = a_delta(broken)
    broken.sql("REPLACE INTO delta(rid, srcid) VALUES(?, ?)", base, rid)
    with pytest.raises(ArtifactError, match=f"{hash_}: its deltas go round in a circle"):
        read(broken, rid)


def test_phantoms_and_strangers_are_named(broken):
    rid, base, hash_ = a_delta(broken)
    broken.sql("UPDATE blob SET size=-1, content=NULL WHERE rid=?", base)
    base_hash = broken.one("SELECT uuid FROM blob WHERE rid=?", base)
    root = broken.one("WITH RECURSIVE c(r) AS (SELECT ? UNION SELECT srcid FROM delta, c WHERE rid=r) SELECT count(*) FROM c", rid)
    assert root > 1
    with pytest.raises(ArtifactError, match=f"{base_hash}: a phantom"):
        read(broken, rid)
    broken.sql("DELETE FROM blob WHERE rid=?", base)
    with pytest.raises(ArtifactError, match=f"{hash_}: it is a delta against row {base}, which does not exist"):
        read(broken, rid)
    with pytest.raises(ArtifactError, match="999999: not in this repository"):
        read(broken, 999999)


def test_a_chain_of_thousands_needs_no_recursion(broken):
    """Each artifact is a delta against the one before: it copies four bytes and adds its number."""
    rows, deltas = [(100000, 4, hashlib.sha3_256(b"base").hexdigest(), pack(b"base"))], []
    for rid in range(100001, 103001):
        content = b"base%d" % rid
        delta = encode(len(content)) + b"\n4@0,6:%d" % rid + encode(artifact.checksum(content)) + b";"
        rows.append((rid, len(content), hashlib.sha3_256(content).hexdigest(), pack(delta)))
        deltas.append((rid, rid - 1))
    with closing(sqlite3.connect(broken.path)) as db, db:
        db.executemany("INSERT INTO blob(rid, size, uuid, content) VALUES(?, ?, ?, ?)", rows)
        db.executemany("INSERT INTO delta(rid, srcid) VALUES(?, ?)", deltas)
    assert read(broken, 103000) == b"base103000"


def encode(number: int) -> bytes:
    """A number as a delta has it."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
    text = ""
    while number or not text:
        number, digit = divmod(number, 64)
        text = digits[digit] + text
    return text.encode()
