"""Rows of Fossil's `unversioned` table under `vec/`, written as `fossil uv` writes them.

Sources: src/unversioned.c (unversioned_write, unversioned_status), src/hname.c (hash policy),
src/xfer.c (what a sync compares). A row written here has rcvid 0, since `rcvfrom` is not ours to
write: so rows that came by a sync (rcvid > 0) can be told from our own.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import time
import zlib

from ..errors import BlobError
from . import catalog

_TABLE = """CREATE TABLE IF NOT EXISTS unversioned(
  uvid INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  rcvid INTEGER,
  mtime DATETIME,
  hash TEXT,
  sz INTEGER,
  encoding INT,
  content BLOB
)"""

#: Values of the setting hash-policy under which new names are SHA1 (HPOLICY_SHA1, HPOLICY_AUTO).
_SHA1_POLICIES = ("0", "1")
#: zlib makes at most 1032 bytes of one.
_MOST_INFLATED = 1032


def files(db: sqlite3.Connection, *, written_here: bool = False) -> dict[str, str]:
    """name -> hash of the files under vec/ that exist (deleted ones do not)."""
    if not _exists(db):
        return {}
    own = " AND rcvid=0" if written_here else ""
    return dict(db.execute(f"SELECT name, hash FROM unversioned WHERE name GLOB 'vec/*' AND hash IS NOT NULL{own}"))


def from_elsewhere(db: sqlite3.Connection) -> bool:
    """Whether the catalog came by a sync: another repository publishes, this one imports."""
    if not _exists(db):
        return False
    row = db.execute("SELECT rcvid FROM unversioned WHERE name=? AND hash IS NOT NULL", (catalog.NAME,)).fetchone()
    return row is not None and row[0] != 0


def read(db: sqlite3.Connection, name: str) -> bytes | None:
    """The content of a file, None if there is none. Raises BlobError if it is not what the table says it is."""
    if not _exists(db):
        return None
    row = db.execute("SELECT encoding, content, sz, hash FROM unversioned WHERE name=? AND hash IS NOT NULL", (name,)).fetchone()
    if row is None or row[1] is None:
        return None
    encoding, content, size, hash_ = row
    data = _inflate(bytes(content), name) if encoding else bytes(content)
    if len(data) != size:
        raise BlobError(f"{name}: {len(data)} bytes, the unversioned table says {size}")
    digest = hashlib.sha1(data, usedforsecurity=False) if len(hash_) == 40 else hashlib.sha3_256(data)
    if digest.hexdigest() != hash_:
        raise BlobError(f"{name}: damaged: its content has the hash {digest.hexdigest()[:16]}, the unversioned table says {hash_[:16]}")
    return data


def put(db: sqlite3.Connection, name: str, data: bytes) -> bool:
    """Store a file unless it is there already, byte for byte; whether anything was written."""
    hash_ = _hash(db, data)
    db.execute(_TABLE)
    row = db.execute("SELECT mtime, hash FROM unversioned WHERE name=?", (name,)).fetchone()
    if row and row[1] == hash_:
        return False
    packed = struct.pack(">I", len(data)) + zlib.compress(data)
    encoding = int(len(packed) <= 0.8 * len(data))  # as unversioned_write decides
    db.execute(
        "INSERT INTO unversioned(name, rcvid, mtime, hash, sz, encoding, content) VALUES(?,0,?,?,?,?,?)"
        " ON CONFLICT(name) DO UPDATE SET rcvid=0, mtime=excluded.mtime, hash=excluded.hash, sz=excluded.sz,"
        " encoding=excluded.encoding, content=excluded.content",
        (name, _now(row), hash_, len(data), encoding, packed if encoding else data),
    )
    _forget_summary(db)
    return True


def remove(db: sqlite3.Connection, name: str) -> bool:
    """Leave a delete marker, which syncs as a missing row would not; whether there was a file."""
    if not _exists(db):
        return False
    row = db.execute("SELECT mtime FROM unversioned WHERE name=? AND hash IS NOT NULL", (name,)).fetchone()
    if row is None:
        return False
    db.execute("UPDATE unversioned SET rcvid=0, mtime=?, hash=NULL, sz=0, encoding=0, content=NULL WHERE name=?",
               (_now(row), name))
    _forget_summary(db)
    return True


def _exists(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_schema WHERE type='table' AND name='unversioned'").fetchone() is not None


def _now(row: tuple | None) -> int:
    """The time of a change. Two changes within a second must not look alike to a sync, which would
    then keep the one with the greater hash."""
    return max(int(time.time()), row[0] + 1 if row and row[0] else 0)


def _forget_summary(db: sqlite3.Connection) -> None:
    """Fossil keeps a hash of all files; while it stands, a sync believes that nothing changed."""
    db.execute("DELETE FROM config WHERE name='uv-hash'")


def _hash(db: sqlite3.Connection, data: bytes) -> str:
    row = db.execute("SELECT value FROM config WHERE name='hash-policy'").fetchone()
    policy = str(row[0]) if row else _default_policy(db)
    return (hashlib.sha1(data) if policy in _SHA1_POLICIES else hashlib.sha3_256(data)).hexdigest()


def _default_policy(db: sqlite3.Connection) -> str:
    """hname_default_policy: SHA1 only where there are SHA1 artifacts and no others."""
    longer, short = db.execute("SELECT EXISTS (SELECT 1 FROM blob WHERE length(uuid)>40), EXISTS (SELECT 1 FROM blob WHERE length(uuid)=40)").fetchone()
    return "1" if short and not longer else "2"


def _inflate(content: bytes, name: str) -> bytes:
    """Fossil's compression: a big-endian size, then zlib."""
    if len(content) < 4:
        raise BlobError(f"{name}: compressed content of {len(content)} bytes")
    (size,) = struct.unpack_from(">I", content)
    if size > _MOST_INFLATED * len(content):
        raise BlobError(f"{name}: {size} bytes announced, more than {len(content)} can hold")
    try:
        return zlib.decompressobj().decompress(content[4:], size + 1)
    except zlib.error as error:
        raise BlobError(f"{name}: {error}") from None
